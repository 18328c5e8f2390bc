// SPDX-License-Identifier: Apache-2.0
// Writes the tables of a pooled report.
#include "analysis/report/pooled/writers.hpp"
#include "analysis/results/record.hpp"
#include "base/contract/run_directory.hpp"
#include "base/csv.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace analysis {

namespace {

std::string optional_cell(const std::optional<Interval>& interval, double Interval::*bound)
{
    return interval ? base::format((*interval).*bound) : std::string{};
}

// One row per effect on the job: the pooled effect, its variation between runs, and the prediction for one more run.
void write_pooled_effects(const std::filesystem::path& file, const PooledReport& report)
{
    base::CsvWriter table{
        file,
        {"factor", "level", "kind", "phase", "runs", "parts", "effect_percent", "low_percent", "high_percent",
         "between_runs_percent", "prediction_low_percent", "prediction_high_percent", "p_alike"}};
    const double confidence = report.all.verdict.confidence;
    for (const PooledEffect& pooled : report.pooled.effects) {
        const Effect& effect = pooled.effect;
        if (effect.family != Family::step || effect.rank != all_ranks) continue;
        const Interval interval = effect.percent.interval(confidence);
        const auto predicted = prediction(pooled.runs, confidence);
        table.row(effect.factor, effect.level, text(effect.kind), effect.phase, pooled.runs.size(), pooled.parts.size(),
                  effect.percent.value, interval.low, interval.high,
                  pooled.between ? base::format(pooled.between->between) : std::string{},
                  optional_cell(predicted, &Interval::low), optional_cell(predicted, &Interval::high), pooled.p_alike);
    }
}

// One row per part of a run and noise: the effect on the job's step.
void write_runs(const std::filesystem::path& file, const PooledReport& report)
{
    base::CsvWriter table{
        file,
        {"run", "part", "started", "seed", "minutes", "blocks", "trustworthy", "covered", "quiet_step_ms", "factor",
         "level", "kind", "role", "effect_percent", "low_percent", "high_percent"}};
    for (const auto& parts : report.runs)
        for (std::size_t p = 0; p < parts.size(); ++p) {
            const Report& own = parts[p].report;
            const Record* record = training_record(own);
            const std::string started = record == nullptr ? "" : word(record->json, "started");
            for (const Effect& effect : of(own.analysis.effects, Family::step)) {
                if (effect.phase != "step" || effect.rank != all_ranks) continue;
                const Interval interval = effect.percent.interval(own.verdict.confidence);
                table.row(parts.front().name, p + 1, started, own.seed, own.verdict.run_minutes, own.analysis.blocks,
                          own.verdict.trustworthy ? 1 : 0, own.verdict.covered ? 1 : 0, own.verdict.quiet_step_ms,
                          effect.factor, effect.level, text(effect.kind), base::text(effect.role), effect.percent.value,
                          interval.low, interval.high);
            }
        }
}

// One row per property and part: property,run,value,differs.
void write_differences(const std::filesystem::path& file, const PooledReport& report)
{
    base::CsvWriter table{file, {"property", "run", "value", "differs"}};
    const std::vector<const NamedReport*> parts = report.parts();
    for (const Difference& difference : report.differences)
        for (std::size_t p = 0; p < parts.size(); ++p)
            table.row(difference.property, parts[p]->name, difference.values[p], difference.differs ? 1 : 0);
}

}  // namespace

std::vector<NamedDecomposition> decompositions(const PooledReport& report)
{
    std::vector<NamedDecomposition> all = decompositions(report.all);
    for (NamedDecomposition& of_all : all) of_all.run = "all";
    for (const NamedReport* part : report.parts())
        for (NamedDecomposition& of_part : decompositions(part->report)) {
            of_part.run = part->name;
            all.push_back(std::move(of_part));
        }
    return all;
}

void write_pooled_tables(const std::filesystem::path& folder, const PooledReport& report, const Content& all)
{
    for (const Table& table : all.sections.tables)
        if (table.of_several) table.write(folder / table.file, report.all);
    const std::vector<NamedDecomposition> found = decompositions(report);
    for (const DecompositionTable& table : decomposition_tables()) table.write(folder / table.file, found);
    write_pooled_effects(folder / "pooled.csv", report);
    write_runs(folder / "runs.csv", report);
    write_differences(folder / "differences.csv", report);
}

}  // namespace analysis
