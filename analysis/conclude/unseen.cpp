// SPDX-License-Identifier: Apache-2.0
#include "analysis/conclude/unseen.hpp"

#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/statistics.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

namespace analysis {

namespace {

// [slot]: true if the slot lies in the training, but contains no step's start, only steps that began before it (outside
// of strata).
std::vector<bool> without_own_steps(const DesignedRun& run, const Analysis& analysis)
{
    const std::vector<Slot>& slots = run.slots.front();
    const RankSteps& rank = run.steps.ranks.front();
    std::vector<bool> found(slots.size());
    const base::LongColumn<int>& slot_of = analysis.exposures.slot;
    for (std::size_t i = 0; i + 1 < slot_of.size(); ++i) {
        if (slot_of[i] == no_slot || analysis.long_steps.kind[i] >= 0) continue;
        for (auto s = static_cast<std::size_t>(slot_of[i]) + 1; s < slots.size(); ++s) {
            if (slots[s].end_ns > rank.begin_ns[i + 1]) break;
            found[s] = true;
        }
    }
    return found;
}

bool is_under(const Treatment& treatment, const Effect& effect)
{
    return std::any_of(treatment.on.begin(), treatment.on.end(),
                       [&](const Assigned& on) { return on.factor == effect.factor && on.level == effect.level; });
}

// The length for which steps of at least this length take half of all time.
double half_time_length(std::vector<double> lengths)
{
    std::sort(lengths.begin(), lengths.end(), std::greater<>{});
    const double half = std::accumulate(lengths.begin(), lengths.end(), 0.0) / 2.0;
    double sum = 0.0;
    for (const double length : lengths)
        if ((sum += length) >= half) return length;
    return 0.0;
}

}  // namespace

std::optional<std::string> unseen_slots(const DesignedRun& run, const Analysis& analysis, const Effect& effect)
{
    constexpr double much = 0.05;
    const std::vector<bool> without = without_own_steps(run, analysis);
    double all = 0.0;
    double unseen = 0.0;
    for (std::size_t slot = 0; slot < without.size(); ++slot) {
        if (!is_under(run.plan.treatments[run.plan.treatment_of[slot]], effect)) continue;
        ++all;
        if (without[slot]) ++unseen;
    }
    if (unseen <= much * all) return std::nullopt;
    return base::join(base::percent(100.0 * unseen / all, 0),
                      " of its slots lie within steps, or pauses between steps, that began before the slot, so its "
                      "effect on those is not measured");
}

std::optional<std::string> steps_that_wait(const DesignedRun& run, const Analysis& analysis)
{
    constexpr double longer_than_most = 2.0;
    constexpr double in_a_slot = 4.0;
    const RankSteps& rank = run.steps.ranks.front();
    std::vector<double> lengths;
    for (std::size_t i = 0; i < analysis.exposures.left_out.size(); ++i)
        if (analysis.exposures.left_out[i] == LeftOut::no)
            lengths.push_back(static_cast<double>(rank.end_ns[i] - rank.begin_ns[i]) / 1e6);
    std::vector<double> slots;
    for (const Slot& slot : run.slots.front()) slots.push_back(static_cast<double>(slot.end_ns - slot.begin_ns) / 1e6);
    if (lengths.empty() || slots.empty()) return std::nullopt;
    const double most = base::median(lengths);
    const double waits = half_time_length(std::move(lengths));
    const double slot = base::median(std::move(slots));
    if (waits <= longer_than_most * most || slot >= in_a_slot * waits) return std::nullopt;
    return base::join("half of the time is in steps of ", base::fixed(waits, 1), " ms or more, but most steps take ",
                      base::fixed(most, 1), " ms: the long ones wait for work of other steps, and a slot of ",
                      base::fixed(slot, 0), " ms is too short to attribute that work");
}

}  // namespace analysis
