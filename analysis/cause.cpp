#include "analysis/cause.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

namespace analysis {

namespace {

std::string share(double percent)
{
    char text[32];
    std::snprintf(text, sizeof text, "%+.1f %%", percent);
    return text;
}

// What an operator calls a phase.
std::string plain(const std::string& phase)
{
    static const std::map<std::string, std::string> words{{"load", "waiting for input data"},
                                                          {"to_device", "copying input to the device"},
                                                          {"forward", "computing the forward pass"},
                                                          {"backward", "computing the backward pass"},
                                                          {"wait_exchange", "waiting for gradients of other ranks"},
                                                          {"update", "updating the parameters"},
                                                          {"checkpoint", "writing checkpoints"},
                                                          {"control_delay", "the control delay"},
                                                          {"control_settle", "the barriers of the control delay"},
                                                          {"other", "work between the phases"}};
    const auto found = words.find(phase);
    return found == words.end() ? phase : found->second;
}

double extra(const Analysis& analysis, const Effect& step, const std::string& name)
{
    const Effect* effect = find(analysis.extra_effects, step.factor, step.level, step.kind, name);
    return effect == nullptr ? 0.0 : effect->percent.value;
}

const Effect* largest_phase(const DesignedRun& run, const Analysis& analysis, const Effect& step, int rank)
{
    const Effect* largest = nullptr;
    for (const std::string& phase : run.steps.phases) {
        const Effect* effect = find(analysis.effects, step.factor, step.level, step.kind, phase, rank);
        if (effect != nullptr && (largest == nullptr || effect->percent.value > largest->percent.value))
            largest = effect;
    }
    return largest;
}

// On which ranks own work got slower: those whose slowdown differs from zero and is at least half of the largest.
std::string slow_ranks(const DesignedRun& run, const Analysis& analysis, const Effect& step, double confidence)
{
    std::vector<std::pair<double, int>> slower;
    for (const RankSteps& rank : run.steps.ranks) {
        const Effect* ready =
            find(analysis.extra_effects, step.factor, step.level, step.kind, base::join("ready rank ", rank.rank));
        if (ready != nullptr && ready->percent.interval(confidence).low > 0.0)
            slower.emplace_back(ready->percent.value, rank.rank);
    }
    const std::size_t ranks = run.steps.ranks.size();
    if (ranks == 1 || slower.empty()) return "";
    const auto largest = *std::max_element(slower.begin(), slower.end());
    std::erase_if(slower, [&](const auto& rank) { return rank.first < largest.first / 2.0; });
    if (slower.size() == ranks) return ranks == 2 ? " on both ranks" : base::join(" on all ", ranks, " ranks");
    if (slower.size() > 1) return base::join(" on ", slower.size(), " of ", ranks, " ranks");
    return base::join(" on rank ", largest.second, ", which the others then wait for");
}

}  // namespace

Cause cause_of(const DesignedRun& run, const Analysis& analysis, const Effect& step, double confidence)
{
    if (step.percent.interval(confidence).low <= 0.0) return {"", "No slowdown that differs from zero."};
    const Effect* phase = largest_phase(run, analysis, step, all_ranks);
    if (phase == nullptr) return {"", "The archive records no phases."};
    const std::string most = base::join("The largest part is in ", plain(phase->phase), " (",
                                        share(phase->percent.value), " of ", share(step.percent.value), ").");
    if (run.extra_names.empty()) return {phase->phase, most};

    const double compute = extra(analysis, step, "critical_compute");
    const double transfer = extra(analysis, step, "exposed_transfer");
    const double after = extra(analysis, step, "after_exchange");
    std::string what;
    if (compute >= transfer && compute >= after)
        what = base::join("Own work before the exchange got slower", slow_ranks(run, analysis, step, confidence), " (",
                          share(compute), "). ");
    else if (transfer >= after)
        what = base::join("Exchanging gradients took longer once all ranks were ready (", share(transfer),
                          "; shortest exchange of any rank ", share(extra(analysis, step, "transfer_min")), "). ");
    else
        what = base::join("Work after the exchange got slower (", share(after), "). ");
    return {phase->phase, what + most};
}

}  // namespace analysis
