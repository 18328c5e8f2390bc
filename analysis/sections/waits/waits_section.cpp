// SPDX-License-Identifier: Apache-2.0
// Section on waiting in MPI, by noise, and on the critical path: the results of trace-waits and trace-path for the
// training's archive.

#include "analysis/metrics/metric.hpp"
#include "analysis/results/numbers.hpp"
#include "analysis/sections/section.hpp"
#include "analysis/sections/waits/mpi_waits.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/words.hpp"

#include <algorithm>

namespace analysis {

namespace {

using base::join;

// None if the training's archive has no MPI calls, or if it is a table.
const std::optional<MpiWaits>& waits_in(const Report& report)
{
    return report.kept.of<std::optional<MpiWaits>>();
}

double mean_over(const base::LongColumn<std::size_t>& steps, const base::LongColumn<double>& values)
{
    double sum = 0.0;
    for (const std::size_t step : steps) sum += values[step];
    return steps.empty() ? 0.0 : sum / static_cast<double>(steps.size());
}

bool has_steps(const MpiWaits& waits)
{
    return std::any_of(waits.patterns.begin(), waits.patterns.end(), [](const PatternWaits& pattern) {
        return std::any_of(pattern.ms_of_step.begin(), pattern.ms_of_step.end(), [](double ms) { return ms > 0.0; });
    });
}

std::string efficiencies_in_words(const MpiWaits& waits)
{
    std::vector<std::string> each;
    for (const auto& [name, value] : waits.efficiencies)
        each.push_back(join(metric_named(name).title, " ", fixed(value, 3)));
    return each.empty() ? "" : join(" Of the whole run (1 is best): ", base::join_words(each, ", "), ".");
}

NoiseTable waiting_by_noise(const Report& report)
{
    const MpiWaits& waits = *waits_in(report);
    NoiseTable table{
        .title = "Waiting in MPI",
        .head = {"Noise"},
        .rows = {},
        .note =
            "Milliseconds per step, averaged over ranks and over the steps that lie mostly under this noise, without "
            "intervals: compare with the row quiet, but do not judge by the difference."};
    table.note += efficiencies_in_words(waits);
    for (const PatternWaits& pattern : waits.patterns) table.head.emplace_back(pattern.state->title);
    const Experiment& plan = report.run.plan;
    for (std::size_t t = 0; t < plan.treatments.size(); ++t) {
        const base::LongColumn<std::size_t> steps = steps_under(report, t);
        NoiseTable::Row row = row_of(plan.treatments[t]);
        for (const PatternWaits& pattern : waits.patterns)
            row.cells.push_back({fixed(mean_over(steps, pattern.ms_of_step), 3), ""});
        table.rows.push_back(std::move(row));
    }
    return table;
}

NoiseTable critical_path(const MpiWaits& waits)
{
    constexpr std::size_t most_rows = 10;
    NoiseTable table{.title = "Critical path",
                     .head = {"Region", "rank", "on the critical path", "imbalance on the path", "delay cost"},
                     .rows = {},
                     .note = "Seconds of the whole run, with and without noise."};
    for (const PathPart& part : waits.path) {
        if (table.rows.size() == most_rows) break;
        table.rows.push_back({part.region,
                              "",
                              "",
                              {{join(part.rank), ""},
                               {fixed(part.seconds, 3), ""},
                               {fixed(part.imbalance_s, 3), ""},
                               {fixed(part.delay_cost_s, 3), ""}}});
    }
    if (waits.path.size() > most_rows)
        table.note +=
            join(" The ", most_rows, " rows with the most seconds, of ", waits.path.size(), "; all rows: path.csv.");
    return table;
}

void write_wait_states(const std::filesystem::path& file, const Report& report)
{
    base::CsvWriter table{file, {"pattern", "treatment", "ms_per_step", "steps", "seconds_of_run", "percent_of_run"}};
    const Experiment& plan = report.run.plan;
    for (std::size_t t = 0; t < plan.treatments.size(); ++t) {
        const base::LongColumn<std::size_t> steps = steps_under(report, t);
        for (const PatternWaits& pattern : waits_in(report)->patterns)
            table.row(pattern.state->cube_name, plan.treatments[t].name(), mean_over(steps, pattern.ms_of_step),
                      steps.size(), pattern.seconds, pattern.percent);
    }
}

void write_efficiencies(const std::filesystem::path& file, const Report& report)
{
    base::CsvWriter pop{file, {"metric", "rank", "value"}};
    for (const auto& [name, value] : waits_in(report)->efficiencies) pop.row(name, "all", value);
}

void write_path(const std::filesystem::path& file, const Report& report)
{
    base::CsvWriter path{
        file,
        {"region", "rank", "seconds", "imbalance_seconds", "delay_cost_seconds", "direct_seconds", "indirect_seconds"}};
    for (const PathPart& part : waits_in(report)->path)
        path.row(part.region, part.rank, part.seconds, part.imbalance_s, part.delay_cost_s,
                 part.delay_cost_s - part.indirect_s, part.indirect_s);
}

void read_waits(Report& report, const SectionInput& input)
{
    if (input.archive == nullptr) return;
    read_or_note(report, "waiting in MPI is", [&] {
        report.kept.of<std::optional<MpiWaits>>() = read_mpi_waits(*input.archive, report.run.steps, input.step_region);
    });
}

std::vector<NoiseTable> wait_tables(const Report& report)
{
    std::vector<NoiseTable> tables;
    if (!waits_in(report)) return tables;
    if (has_steps(*waits_in(report))) tables.push_back(waiting_by_noise(report));
    if (!waits_in(report)->path.empty()) tables.push_back(critical_path(*waits_in(report)));
    return tables;
}

}  // namespace

namespace section {

extern const Section waits{
    .complete = read_waits,
    // pop.csv and path.csv, in the formats of trace-waits and trace-path.
    .tables = [](const Report& report) -> std::vector<Table> {
        if (!waits_in(report)) return {};
        return {{"wait_states.csv", write_wait_states}, {"pop.csv", write_efficiencies}, {"path.csv", write_path}};
    },
    .detail = wait_tables,
};

}  // namespace section

}  // namespace analysis
