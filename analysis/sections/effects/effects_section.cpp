// SPDX-License-Identifier: Apache-2.0
#include "analysis/sections/effects/effects_section.hpp"

#include "analysis/metrics/metric.hpp"
#include "analysis/results/numbers.hpp"
#include "analysis/sections/section.hpp"
#include "base/contract/factor_name.hpp"
#include "base/contract/run_directory.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/words.hpp"

namespace analysis {

namespace {

using base::join;

NoiseTable split_of_step(const Report& report)
{
    const std::vector<std::string> measures{"critical_compute", "exposed_transfer", "after_exchange", "waiting",
                                            "transfer_min"};
    const std::vector<std::string> columns{"own work, slowest rank", "transfer", "after the exchange",
                                           "waiting for a rank", "shortest exchange"};
    NoiseTable table = table_of_effects(report, "Own slowdown, transfer, waiting", columns, [&](const Effect& effect) {
        std::vector<NoiseTable::Cell> cells;
        for (const std::string& measure : measures)
            cells.push_back(cell_of(find(report.analysis.effects, effect.factor, effect.level, effect.kind, measure,
                                         all_ranks, Family::measure),
                                    report.verdict.confidence));
        return cells;
    });
    table.note = "The first three columns add up to the step.";
    return table;
}

NoiseTable effects_by_rank(const Report& report)
{
    const std::vector<RankSteps>& ranks = report.run.steps.ranks;
    const bool with_buckets = !report.run.extra_names.empty();
    std::vector<std::string> columns;
    for (const RankSteps& rank : ranks) columns.push_back(join("rank ", rank.rank, " step"));
    if (with_buckets)
        for (const RankSteps& rank : ranks) columns.push_back(join("rank ", rank.rank, " ready"));
    NoiseTable table = table_of_effects(report, "Rank by rank", columns, [&](const Effect& effect) {
        std::vector<NoiseTable::Cell> cells;
        const auto add = [&](const std::string& measure, int rank, Family family) {
            cells.push_back(
                cell_of(find(report.analysis.effects, effect.factor, effect.level, effect.kind, measure, rank, family),
                        report.verdict.confidence));
        };
        for (const RankSteps& rank : ranks) add("step", rank.rank, Family::step);
        if (with_buckets)
            for (const RankSteps& rank : ranks) add(join("ready rank ", rank.rank), all_ranks, Family::measure);
        return cells;
    });
    table.note =
        "Ranks that exchange gradients wait for the slowest, so their steps slow down alike. "
        "Phases by rank: effects.csv.";
    return table;
}

std::vector<NoiseTable> effect_tables(const Report& report)
{
    constexpr std::size_t most_ranks = 8;  // more would make the table too wide
    const std::size_t ranks = report.run.steps.ranks.size();
    std::vector<NoiseTable> tables{effects_by_phase(report)};
    if (!report.run.extra_names.empty()) tables.push_back(split_of_step(report));
    if (ranks > 1 && ranks <= most_ranks) tables.push_back(effects_by_rank(report));
    return tables;
}

// Columns: factor,level,phase,rank,kind,effect_percent,low_percent,high_percent,p_holm,steps,p,blocks
void write_effects(const std::filesystem::path& file, const Report& report)
{
    base::CsvWriter table{file,
                          {"factor", "level", "phase", "rank", "kind", "effect_percent", "low_percent", "high_percent",
                           "p_holm", "steps", "p", "blocks"}};
    for (const Effect& effect : of(report.analysis.effects, Family::step)) {
        const Interval interval = effect.percent.interval(report.verdict.confidence);
        table.row(effect.factor, effect.level, effect.phase,
                  effect.rank == all_ranks ? "all" : std::to_string(effect.rank), text(effect.kind),
                  effect.percent.value, interval.low, interval.high, effect.p_holm, effect.steps, effect.p,
                  report.analysis.blocks);
    }
}

// The columns of effects.csv, for measures other than phases: the split of the step by its buckets, when each rank was
// ready, the median step.
void write_measures(const std::filesystem::path& file, const Report& report)
{
    base::CsvWriter table{
        file, {"factor", "level", "measure", "kind", "effect_percent", "low_percent", "high_percent", "p", "steps"}};
    for (const Effect& effect : of(report.analysis.effects, Family::measure)) {
        const Interval interval = effect.percent.interval(report.verdict.confidence);
        table.row(effect.factor, effect.level, effect.phase, text(effect.kind), effect.percent.value, interval.low,
                  interval.high, effect.p, effect.steps);
    }
}

}  // namespace

NoiseTable effects_by_phase(const Report& report)
{
    std::vector<std::string> columns{"step"};
    columns.insert(columns.end(), report.run.steps.phases.begin(), report.run.steps.phases.end());
    NoiseTable table = table_of_effects(report, "Effects by phase, all ranks", columns, [&](const Effect& effect) {
        std::vector<NoiseTable::Cell> cells;
        for (const std::string& phase : columns) {
            const Effect* here = find(report.analysis.effects, effect.factor, effect.level, effect.kind, phase);
            cells.push_back(cell_of(here, report.verdict.confidence));
            cells.back().strong = here->p_holm <= 0.05;
        }
        return cells;
    });
    table.note =
        join("Percent of the mean quiet step, ± half of the ", 100.0 * report.verdict.confidence, " % interval. ",
             "Bold: differs from zero with p ≤ 0.05 after Holm's correction over all noises and phases. "
             "Phases add up to the step.");
    if (report.run.plan.design == Design::factorial)
        table.note +=
            " Alone: this noise against quiet. Average: with it against without it, whatever else was on. "
            "Interaction: what two together cost beyond the sum of each.";
    return table;
}

namespace section {

extern const Section effects{
    .tables = [](const Report&) -> std::vector<Table> {
        return {{base::file::effects, write_effects, true}, {"measures.csv", write_measures, true}};
    },
    .detail = effect_tables,
    .plots = draw_effects_and_phases,
};

}  // namespace section

}  // namespace analysis
