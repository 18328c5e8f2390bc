// SPDX-License-Identifier: Apache-2.0
#include "analysis/sections/time/time_table.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace analysis {

namespace {

constexpr std::size_t nowhere = SIZE_MAX;
constexpr const char* used = "used";
constexpr const char* ranks_incomplete = "ranks incomplete";

struct Sum {
    std::int64_t steps = 0;
    std::int64_t ns = 0;
};

// Number and time of steps by treatment and reason.
using Sums = std::map<std::pair<std::size_t, std::string>, Sum>;

void add(Sums& sums, std::size_t treatment, const std::string& reason, std::int64_t steps, std::int64_t ns)
{
    Sum& sum = sums[{treatment, reason}];
    sum.steps += steps;
    sum.ns += ns;
}

std::size_t treatment_at(std::int64_t at_ns, const std::vector<Slot>& slots, const Experiment& plan)
{
    const auto slot =
        std::partition_point(slots.begin(), slots.end(), [&](const Slot& c) { return c.end_ns <= at_ns; });
    return slot == slots.end() || slot->begin_ns > at_ns
               ? nowhere
               : plan.treatment_of[static_cast<std::size_t>(slot - slots.begin())];
}

Sums sums_of(const DesignedRun& run, const Analysis& analysis, std::size_t rank)
{
    const RankSteps& steps = run.steps.ranks[rank];
    const std::vector<Slot>& slots = run.slots[rank];
    const Exposures& exposures = analysis.exposures;
    const std::int64_t first_ns = slots.front().begin_ns;
    Sums sums;
    for (std::size_t i = 0; i < steps.begin_ns.size() && steps.begin_ns[i] < slots.back().end_ns; ++i) {
        const std::int64_t begin_ns = std::max(steps.begin_ns[i], first_ns);
        const std::int64_t end_ns = steps.end_ns[i];
        if (i + 1 < steps.begin_ns.size()) {
            // The gap holds steps that another rank lacks, or that were not recorded.
            const std::int64_t gap_begin_ns = std::max(end_ns, first_ns);
            const std::int64_t gap_ns = steps.begin_ns[i + 1] - gap_begin_ns;
            if (gap_ns > 0 && steps.begin_ns[i + 1] < slots.back().end_ns)
                add(sums, treatment_at(gap_begin_ns, slots, run.plan), ranks_incomplete, 0, gap_ns);
        }
        if (end_ns <= first_ns) continue;
        const bool in_slot = steps.begin_ns[i] >= first_ns && exposures.slot[i] != no_slot;
        const std::size_t treatment =
            in_slot ? run.plan.treatment_of[static_cast<std::size_t>(exposures.slot[i])] : nowhere;
        const LeftOut reason = in_slot ? exposures.left_out[i] : LeftOut::not_covered;
        if (reason != LeftOut::no) {
            add(sums, treatment, text(reason), 1, end_ns - begin_ns);
        } else if (is_set_aside(analysis, run.plan, i)) {
            const auto ordinary_ns =
                std::llround(analysis.long_steps.regular[i] * static_cast<double>(end_ns - begin_ns));
            add(sums, treatment, used, 0, ordinary_ns);
            add(sums, treatment, text(LeftOut::outlier), 1, end_ns - begin_ns - ordinary_ns);
        } else {
            add(sums, treatment, used, 1, end_ns - begin_ns);
        }
    }
    return sums;
}

}  // namespace

std::vector<TimeRow> time_table(const DesignedRun& run, const Analysis& analysis)
{
    std::vector<TimeRow> rows;
    for (std::size_t r = 0; r < run.steps.ranks.size(); ++r)
        for (const auto& [key, sum] : sums_of(run, analysis, r))
            rows.push_back({run.steps.ranks[r].rank, key.first == nowhere ? "" : run.plan.treatments[key.first].name(),
                            key.second, sum.steps, sum.ns});
    return rows;
}

}  // namespace analysis
