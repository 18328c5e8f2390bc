// SPDX-License-Identifier: Apache-2.0
#include "analysis/input/join.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cmath>

namespace analysis {

namespace {

constexpr double least_achieved = 0.9;  // share of a factor's assigned time in which its noise must be on
constexpr double most_disturbed = 0.1;  // share of the time without assigned noise in which noise may be on

std::string shown(const std::string& name)
{
    return name.empty() ? "unknown" : name;
}

bool same_clock(const std::string& a, const std::string& b)
{
    return !a.empty() && a == b;
}

// The noise process on the rank's node. It is found by its clock, or by its host if the training is a table or an
// offset between clocks is given. Files without host names must come from a single node.
const Noise* noise_beside(const Training& training, std::size_t rank, const std::vector<Noise>& noise,
                          bool offset_stated)
{
    for (const Noise& process : noise)
        if (same_clock(process.clock, training.clock[rank])) return &process;
    if (!offset_stated && !training.is_table) return nullptr;
    for (const Noise& process : noise)
        if (process.host == training.host[rank] || process.host.empty() || training.host[rank].empty()) return &process;
    return nullptr;
}

// Throws Error for a table that does not say on which of several nodes a rank was, and for one whose times cannot be of
// the noise's clock.
void check_table(const Training& training, const std::vector<Noise>& noise, std::int64_t offset_ns)
{
    if (!training.is_table) return;
    const auto other_host = [&](const Noise& process) { return process.host != noise.front().host; };
    for (std::size_t r = 0; r < training.host.size(); ++r)
        if (training.host[r].empty() && std::any_of(noise.begin(), noise.end(), other_host))
            base::fail(training.file.string(), " does not give the node of rank ", training.steps.ranks[r].rank,
                       ", but noise ran on several: add a column 'host'");
    const RankSteps& first = training.steps.ranks.front();
    const std::int64_t noise_begin_ns = noise.front().slots.front().begin_ns + offset_ns;
    const std::int64_t noise_end_ns = noise.front().slots.back().end_ns + offset_ns;
    if (first.end_ns.back() <= noise_begin_ns || first.begin_ns.front() >= noise_end_ns)
        base::fail(training.file.string(),
                   " has no step within the noise's time: are its times CLOCK_MONOTONIC in ns, Python's ",
                   "time.monotonic_ns()? (--clock-offset corrects a difference)");
}

using Place = std::pair<std::int64_t, std::int64_t>;  // block, position in it

Place place_of(const Slot& slot)
{
    return {slot.block, slot.position};
}

// [noise process]: the slots that all processes have. A process that began late lacks the first ones, one that ended
// early the last. Throws Error if they were assigned different noise.
std::vector<std::vector<Slot>> common_slots(const std::vector<Noise>& noise)
{
    Place first = place_of(noise.front().slots.front());
    for (const Noise& process : noise) first = std::max(first, place_of(process.slots.front()));
    std::vector<std::vector<Slot>> common;
    for (const Noise& process : noise) {
        const auto begin = std::find_if(process.slots.begin(), process.slots.end(),
                                        [&](const Slot& slot) { return place_of(slot) == first; });
        if (begin == process.slots.end())
            base::fail(process.archive.string(), " has no slot ", first.second, " of block ", first.first,
                       ", the first of another noise process: they have no common slots");
        common.emplace_back(begin, process.slots.end());
    }
    std::size_t count = common.front().size();
    for (const std::vector<Slot>& slots : common) count = std::min(count, slots.size());
    for (std::size_t p = 0; p < common.size(); ++p) {
        common[p].resize(count);
        for (std::size_t c = 0; c < count; ++c)
            if (common[p][c].on != common[0][c].on || place_of(common[p][c]) != place_of(common[0][c]))
                base::fail(noise[p].archive.string(), " and ", noise[0].archive.string(),
                           " followed different schedules (block ", common[0][c].block, ", slot ",
                           common[0][c].position, "): not the noise of one run");
    }
    return common;
}

std::vector<TimeSpan> on_clock(std::vector<TimeSpan> stretches, std::int64_t offset_ns)
{
    for (TimeSpan& stretch : stretches) {
        stretch.begin_ns += offset_ns;
        stretch.end_ns += offset_ns;
    }
    return stretches;
}

std::vector<Slot> on_clock(std::vector<Slot> slots, std::int64_t offset_ns)
{
    for (Slot& slot : slots) {
        slot.begin_ns += offset_ns;
        slot.end_ns += offset_ns;
    }
    return slots;
}

// Copies the extra measures, which are of the whole job, if no rank was left out.
void copy_extras(const Training& training, std::size_t kept_ranks, DesignedRun& run)
{
    if (kept_ranks != training.steps.ranks.size()) return;
    run.extra_ms = training.extra_ms;
    run.extra_names = training.extra_names;
}

void check_achieved(const std::vector<Noise>& noise, Joined& joined)
{
    for (const Noise& process : noise) {
        if (const double share = disturbed_share(process); share > most_disturbed)
            joined.promises_broken.push_back(base::join("noise ran on ", shown(process.host), " in ",
                                                        std::lround(100.0 * share),
                                                        " % of the time in which none was assigned"));
        if (process.least_recorded < least_achieved)
            joined.promises_broken.push_back(base::join("the thread '", shown(process.least_recorded_by),
                                                        "' of the noise on ", shown(process.host), " recorded only ",
                                                        std::lround(100.0 * process.least_recorded),
                                                        " % of the time in which noise was assigned"));
        for (const auto& [factor, share] : achieved_share(process))
            if (share < least_achieved)
                joined.promises_broken.push_back(base::join(
                    factor == "quiet" ? "noise on " : base::join("the noise '", factor, "' on "), shown(process.host),
                    factor == "quiet" ? " was actually quiet for only " : " actually ran for only ",
                    std::lround(100.0 * share), " % of the time in which ", factor == "quiet" ? "quiet" : "it",
                    " was assigned"));
    }
}

}  // namespace

Joined join_without_plan(const Training& training, const std::vector<Noise>& noise,
                         std::optional<std::int64_t> clock_offset_ns)
{
    Joined joined;
    const std::vector<std::vector<Slot>> slots = common_slots(noise);
    check_table(training, noise, clock_offset_ns.value_or(0));
    for (std::size_t r = 0; r < training.steps.ranks.size(); ++r) {
        const Noise* beside = noise_beside(training, r, noise, clock_offset_ns.has_value());
        if (beside == nullptr) {
            joined.promises_broken.push_back(base::join("no noise process on the node of rank ",
                                                        training.steps.ranks[r].rank, " (", shown(training.host[r]),
                                                        "): the rank is excluded"));
            continue;
        }
        joined.run.steps.ranks.push_back(training.steps.ranks[r]);
        if (training.work.known()) joined.run.work.ranks.push_back(training.work.ranks[r]);
        const bool aligned = same_clock(beside->clock, training.clock[r]);
        const std::int64_t offset_ns = aligned ? 0 : clock_offset_ns.value_or(0);
        const auto process = static_cast<std::size_t>(beside - noise.data());
        joined.run.slots.push_back(on_clock(slots[process], offset_ns));
        joined.run.stopped.push_back(on_clock(beside->stopped, offset_ns));
    }
    if (joined.run.steps.ranks.empty())
        base::fail("training and noise were recorded on two different clocks (", shown(training.clock.front()), " and ",
                   shown(noise.front().clock), "): give their difference as --clock-offset");
    if (clock_offset_ns)
        joined.notes.push_back(base::join("clocks were aligned by --clock-offset ", *clock_offset_ns, " ns"));

    if (!training.steps_are.empty()) joined.notes.push_back(training.steps_are);

    joined.run.computes_while_stopped = training.computes_while_stopped;
    joined.run.computes_on_gpu = training.computes_on_gpu;
    joined.run.steps.phases = training.steps.phases;
    joined.run.steps.numbers = training.steps.numbers;
    joined.run.steps.cut_off = training.steps.cut_off;
    joined.run.steps.incomplete = training.steps.incomplete;
    joined.run.steps.between_share = training.steps.between_share;
    joined.run.work.regions = training.work.regions;
    copy_extras(training, joined.run.steps.ranks.size(), joined.run);
    check_achieved(noise, joined);
    return joined;
}

Joined join(const Training& training, const std::vector<Noise>& noise, std::optional<std::int64_t> clock_offset_ns)
{
    Joined joined = join_without_plan(training, noise, clock_offset_ns);
    joined.run.plan = experiment(noise.front().design, joined.run.slots.front());
    return joined;
}

}  // namespace analysis
