// SPDX-License-Identifier: Apache-2.0
// Section on the tail of step times and their variability.

#include "analysis/sections/section.hpp"
#include "analysis/sections/tails/tails.hpp"

#include <array>

namespace analysis {

namespace {

void estimate_tails(Report& report, const SectionInput&)
{
    for (Effect& effect : tail_effects(report.run, report.analysis, report.rules.draws.seed))
        report.analysis.effects.push_back(std::move(effect));
}

std::vector<NoiseTable> tail_table(const Report& report)
{
    constexpr std::array<const char*, 4> measures{"p95 step", "p99 step", "standard deviation",
                                                  "coefficient of variation"};
    NoiseTable table{
        .title = "Tails and variability",
        .head = {"Noise", "p95 of steps", "p99 of steps", "standard deviation", "coefficient of variation"},
        .rows = {},
        .note =
            "Difference from quiet slots, outliers included, in percent of the mean quiet step; the coefficient of "
            "variation in percentage points. –: too few steps. Intervals are over blocks."};
    for (const Effect& effect : of(report.analysis.effects, Family::step)) {
        if (effect.rank != all_ranks || effect.phase != "step" || effect.kind == Kind::interaction) continue;
        if (effect.kind != judged_kind(report.analysis.effects, effect)) continue;
        NoiseTable::Row& row = table.rows.emplace_back(NoiseTable::Row{effect.factor, effect.level, "", {}});
        for (const char* measure : measures)
            row.cells.push_back(cell_of(find(report.analysis.effects, effect.factor, effect.level, effect.kind, measure,
                                             all_ranks, Family::measure),
                                        report.verdict.confidence));
    }
    return {table};
}

}  // namespace

namespace section {

extern const Section tails{
    .estimate = estimate_tails,
    .below = tail_table,
};

}  // namespace section

}  // namespace analysis
