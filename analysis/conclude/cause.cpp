// SPDX-License-Identifier: Apache-2.0
#include "analysis/conclude/cause.hpp"

#include "base/contract/os_table.hpp"
#include "base/contract/phases.hpp"
#include "base/error.hpp"
#include "base/figures.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <optional>
#include <utility>

namespace analysis {

namespace {

std::string share(double percent)
{
    return base::signed_percent(percent, 1);
}

// The name of a phase for operators.
std::string plain(const std::string& phase)
{
    const base::PhaseCard* const known = base::find_phase(phase);
    return known == nullptr ? phase : std::string{known->words};
}

constexpr double significant = 0.05;

bool slower(const Effect* effect, double confidence)
{
    return effect != nullptr && effect->percent.interval(confidence).low > 0.0;
}

// Effect on a part of the step, in percent of the step; 0 if its interval includes zero.
double extra(const Analysis& analysis, const Effect& step, const std::string& name, double confidence)
{
    const Effect* effect = find(analysis.effects, step.factor, step.level, step.kind, name, all_ranks, Family::measure);
    return slower(effect, confidence) ? effect->percent.value : 0.0;
}

// The phase with the largest effect; nullptr if no effect differs from zero.
const Effect* largest_phase(const DesignedRun& run, const Analysis& analysis, const Effect& step, double confidence)
{
    const Effect* largest = nullptr;
    for (const std::string& phase : run.steps.phases) {
        const Effect* effect = find(analysis.effects, step.factor, step.level, step.kind, phase);
        if (!slower(effect, confidence) || effect->p_holm > significant) continue;
        if (largest == nullptr || effect->percent.value > largest->percent.value) largest = effect;
    }
    return largest;
}

// The mechanism behind a phase; unknown for wait_exchange, which only buckets can split into waiting and transfer.
Mechanism mechanism_of(const std::string& phase)
{
    const base::PhaseCard* const known = base::find_phase(phase);
    if (known == nullptr) return Mechanism::unknown;
    switch (known->part) {
        case base::PhasePart::input:
            return Mechanism::input;
        case base::PhasePart::compute:
            return Mechanism::compute;
        case base::PhasePart::checkpoint:
            return Mechanism::checkpoint;
        case base::PhasePart::exchange:
        case base::PhasePart::control:
        case base::PhasePart::rest:
            break;
    }
    return Mechanism::unknown;
}

// The ranks whose own work got slower: the slowdown differs from zero and is at least half of the largest.
std::string slow_ranks(const DesignedRun& run, const Analysis& analysis, const Effect& step, double confidence)
{
    std::vector<std::pair<double, int>> later;
    for (const RankSteps& rank : run.steps.ranks) {
        const Effect* ready = find(analysis.effects, step.factor, step.level, step.kind,
                                   base::join("ready rank ", rank.rank), all_ranks, Family::measure);
        if (slower(ready, confidence)) later.emplace_back(ready->percent.value, rank.rank);
    }
    const std::size_t ranks = run.steps.ranks.size();
    if (ranks == 1 || later.empty()) return "";
    const auto largest = *std::max_element(later.begin(), later.end());
    std::erase_if(later, [&](const auto& rank) { return rank.first < largest.first / 2.0; });
    if (later.size() == ranks) return ranks == 2 ? " on both ranks" : base::join(" on all ", ranks, " ranks");
    if (later.size() > 1) return base::join(" on ", later.size(), " of ", ranks, " ranks");
    return base::join(" on rank ", largest.second, ", which the others then wait for");
}

// The cause by the split of the step at its buckets; the mechanism is unknown if no part of the split differs from
// zero.
Cause split(const DesignedRun& run, const Analysis& analysis, const Effect& step, double confidence)
{
    const double compute = extra(analysis, step, "critical_compute", confidence);
    const double transfer = extra(analysis, step, "exposed_transfer", confidence);
    const double after = extra(analysis, step, "after_exchange", confidence);
    const double most = std::max({compute, transfer, after});
    if (most <= 0.0) return {};
    if (most == compute)
        return {"", Mechanism::compute,
                base::join("Own work before the exchange got slower", slow_ranks(run, analysis, step, confidence), " (",
                           share(compute), "). ")};
    if (most == after)
        return {"", Mechanism::compute, base::join("Work after the exchange got slower (", share(after), "). ")};
    const double shortest = extra(analysis, step, "transfer_min", confidence);
    return {"", Mechanism::transfer,
            base::join("Exchanging gradients took longer once all ranks were ready (", share(transfer),
                       shortest > 0.0 ? "; shortest exchange of any rank " + share(shortest) : "", "). ")};
}

// Why no cause is named for an effect: its p is above 0.05 after Holm's correction, which multiplies p by up to the
// number of tests.
std::string not_significant(const Analysis& analysis, const Effect& step)
{
    const auto tests = static_cast<double>(std::count_if(analysis.effects.begin(), analysis.effects.end(),
                                                         [&](const Effect& other) { return other.rank == step.rank; }));
    if (step.smallest_p.by_blocks * tests > significant) return "Unknown: too few blocks to separate it from chance.";
    if (step.smallest_p.by_draws * tests > significant)
        return "Unknown: too few draws (--draws) to separate it from chance.";
    char text[128];
    std::snprintf(text, sizeof text, "Unknown: it may be chance (p %.2f after correction for all noises and phases).",
                  step.p_holm);
    return text;
}

}  // namespace

std::string text(Mechanism mechanism)
{
    switch (mechanism) {
        case Mechanism::input:
            return "input";
        case Mechanism::compute:
            return "compute";
        case Mechanism::transfer:
            return "transfer";
        case Mechanism::checkpoint:
            return "checkpoint";
        case Mechanism::unknown:
            break;
    }
    return "";
}

namespace {

constexpr std::string_view wait_phase = base::card_of(base::TrainingPhase::wait_exchange).name;

// True if at least half of the slowdown is own work of one rank in one region, and phases do not show this or show
// something else: wait_exchange alone looks like the network, and regions of other programs are not phases.
bool region_says_more(const Decomposition& made_of)
{
    return made_of.critical_rank && made_of.region_percent >= made_of.step_percent / 2.0 &&
           (made_of.region == wait_phase || plain(made_of.region) == made_of.region);
}

Cause late_in(const Decomposition& made_of)
{
    const std::string amounts = base::join(" (", share(made_of.region_percent), " of ", share(made_of.step_percent),
                                           "), which the others then wait for.");
    if (made_of.region == wait_phase)
        return {
            std::string{wait_phase}, Mechanism::compute,
            base::join("Not the transfer: rank ", *made_of.critical_rank, " itself was late in the exchange", amounts)};
    return {made_of.region, Mechanism::compute,
            base::join("Own work of rank ", *made_of.critical_rank, " got slower ", where(made_of.region), amounts)};
}

// Names the rank in a cause that has none.
void name_rank(Cause& cause, const Decomposition& made_of)
{
    const bool said = cause.sentence.find(" rank") != std::string::npos;
    if (said || !made_of.waits || made_of.region != cause.phase) return;
    cause.sentence += base::join(" Most of it on rank ", *made_of.critical_rank, ", which rank ", made_of.waits->rank,
                                 " then waits for (", share(made_of.waits->percent), ").");
}

Cause named_cause(const DesignedRun& run, const Analysis& analysis, const Effect& step, double confidence,
                  const std::optional<Decomposition>& made_of)
{
    if (made_of && region_says_more(*made_of)) return late_in(*made_of);
    Cause cause = run.extra_names.empty() ? Cause{} : split(run, analysis, step, confidence);
    if (run.steps.phases == std::vector<std::string>{"other"}) {
        cause.sentence += "The archive records no phases.";
        return cause;
    }
    const Effect* phase = largest_phase(run, analysis, step, confidence);
    // Ranks that wait for one rank wait as long as its own work grew, but in another phase.
    const bool of_rank = made_of && made_of->critical_rank && made_of->region_percent >= made_of->step_percent / 2.0;
    if (phase == nullptr && !of_rank) {
        cause.sentence += "No single phase differs from zero.";
        return cause;
    }
    cause.phase = of_rank ? made_of->region : phase->phase;
    const bool one_rank = phase == nullptr || phase->phase != cause.phase;
    cause.sentence += base::join("The largest part is in ", plain(cause.phase),
                                 one_rank ? base::join(" on rank ", *made_of->critical_rank) : "", " (",
                                 share(one_rank ? made_of->region_percent : phase->percent.value), " of ",
                                 share(step.percent.value), ").");
    // Loading and checkpoints are own work too; the phase says which.
    const Mechanism of_phase = mechanism_of(cause.phase);
    if (cause.mechanism == Mechanism::unknown ||
        (cause.mechanism == Mechanism::compute && of_phase != Mechanism::unknown))
        cause.mechanism = of_phase;
    if (made_of) name_rank(cause, *made_of);
    return cause;
}

struct GpuReason {
    const char* measure;
    const char* sentence;
    Mechanism mechanism;
};

constexpr std::array gpu_reasons{
    GpuReason{"gpu_busy", "GPUs compute for longer", Mechanism::compute},
    GpuReason{"gpu_idle_exchange", "GPUs wait longer for the exchange", Mechanism::transfer},
    GpuReason{"gpu_idle_input", "GPUs wait longer for input", Mechanism::input},
    GpuReason{"gpu_idle_launch", "GPUs wait longer for a host that launches late", Mechanism::compute},
    GpuReason{"gpu_idle_host_wait", "GPUs wait longer while the host waits", Mechanism::compute},
    GpuReason{"gpu_idle_nothing", "GPUs are without work for longer", Mechanism::compute},
    GpuReason{"gpu_idle_copy", "GPUs wait longer for copies", Mechanism::unknown},
    GpuReason{"gpu_idle_queued", "GPUs start launched work later", Mechanism::unknown}};

// The GPU activity that took longer, if that explains at least half of the slowdown. Phases of the host are then no
// evidence: a host that is ahead of its GPU waits in one phase for GPU work of another.
std::optional<Cause> cause_on_gpu(const Analysis& analysis, const Effect& step, double confidence)
{
    const GpuReason* reason = nullptr;
    double most = step.percent.value / 2.0;
    for (const GpuReason& one : gpu_reasons) {
        const Effect* const effect =
            find(analysis.effects, step.factor, step.level, step.kind, one.measure, all_ranks, Family::gpu);
        if (!slower(effect, confidence) || effect->percent.value < most) continue;
        most = effect->percent.value;
        reason = &one;
    }
    if (reason == nullptr) return std::nullopt;
    return Cause{reason->measure, reason->mechanism,
                 base::join(reason->sentence, " (", share(most), " of ", share(step.percent.value), ").")};
}

struct EvidenceReason {
    const char* cause;
    const char* sentence;
};

constexpr std::array evidence_reasons{
    EvidenceReason{base::os::cause::neighbour, "Main threads wait for a CPU on which another job runs"},
    EvidenceReason{base::os::cause::own_thread,
                   "Main threads wait for a CPU on which other threads of the same job run"},
    EvidenceReason{base::os::cause::kernel_thread, "Main threads wait for a CPU on which threads of the kernel run"},
    EvidenceReason{base::os::cause::runqueue_wait, "Main threads wait for a CPU"},
    EvidenceReason{base::os::cause::interrupt, "Interrupts take the CPUs of main threads"},
    EvidenceReason{base::os::cause::softirq, "Soft interrupts take the CPUs of main threads"},
    EvidenceReason{base::os::cause::throttled, "The job's own CPU quota stops its main threads"},
    EvidenceReason{base::os::cause::steal, "The hypervisor takes the CPUs of main threads"},
    EvidenceReason{base::os::cause::block_io, "Main threads wait for a disk"},
    EvidenceReason{base::os::cause::major_faults, "Main threads wait for pages that come from a disk"},
    EvidenceReason{base::os::cause::reclaim, "Main threads look for free memory"}};

constexpr double matters = 1.0 / 3.0;      // least share of the slowdown
constexpr double negligible = 1.0 / 10.0;  // greatest share of a part that the placebo may show

// A cause that the placebo shows, too, is there without noise.
bool shown_by_placebo(const Analysis& analysis, const Effect& part, double confidence)
{
    return std::any_of(analysis.effects.begin(), analysis.effects.end(), [&](const Effect& effect) {
        return effect.family == Family::evidence && effect.role == base::Role::placebo && effect.phase == part.phase &&
               slower(&effect, confidence) && effect.percent.value >= negligible * part.percent.value;
    });
}

// Names the part of the slowdown with the highest lower bound among those that are a third of the slowdown or more. The
// bound decides between them and not the estimate: a thread that wakes up from a wait for a disk then also waits for
// others on its CPU, for a time that varies much.
void name_evidence(Cause& cause, const Analysis& analysis, const Effect& step, double confidence)
{
    const EvidenceReason* reason = nullptr;
    const Effect* part = nullptr;
    double most = 0.0;
    for (const EvidenceReason& one : evidence_reasons) {
        const Effect* const effect =
            find(analysis.effects, step.factor, step.level, step.kind, one.cause, all_ranks, Family::evidence);
        if (effect == nullptr) continue;
        const Interval interval = effect->percent.interval(confidence);
        if (interval.low <= most || effect->percent.value < matters * step.percent.value) continue;
        if (shown_by_placebo(analysis, *effect, confidence)) continue;
        most = interval.low;
        part = effect;
        reason = &one;
    }
    if (reason == nullptr) return;
    cause.evidence = reason->cause;
    cause.sentence = base::join(reason->sentence, " (", share(part->percent.value), " of ", share(step.percent.value),
                                "). ", cause.sentence);
}

}  // namespace

Cause cause_of(const DesignedRun& run, const Analysis& analysis, const Effect& step, double confidence)
{
    if (!slower(&step, confidence)) return {"", Mechanism::unknown, "No slowdown that differs from zero."};
    if (step.p_holm > significant) return {"", Mechanism::unknown, not_significant(analysis, step)};
    std::optional<Decomposition> made_of = decomposition_of(analysis.effects, step, confidence);
    Cause cause = named_cause(run, analysis, step, confidence, made_of);
    if (std::optional<Cause> on_gpu = cause_on_gpu(analysis, step, confidence)) {
        if (run.steps.ranks.size() > 1) on_gpu->sentence += " " + cause.sentence;
        cause = std::move(*on_gpu);
    }
    name_evidence(cause, analysis, step, confidence);
    cause.made_of = std::move(made_of);
    return cause;
}

}  // namespace analysis
