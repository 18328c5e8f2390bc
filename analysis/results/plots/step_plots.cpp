// SPDX-License-Identifier: Apache-2.0
#include "analysis/results/plots/step_plots.hpp"

#include "analysis/results/numbers.hpp"
#include "analysis/results/plots/palette.hpp"
#include "base/columns/long_order.hpp"
#include "base/contract/phases.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/programs/gnuplot.hpp"
#include "base/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace analysis {

namespace {

constexpr const char* heat_map_gp =
#include "analysis/results/plots/heat_map.gp.inc"
    ;
constexpr const char* phases_over_time_gp =
#include "analysis/results/plots/phases_over_time.gp.inc"
    ;

constexpr Eigen::Index most_columns = 120;
constexpr Eigen::Index most_columns_of_phases = 60;  // each column has a box for each phase
constexpr Eigen::Index most_ranks_apart = 16;
constexpr std::size_t most_panels = 12;  // runs with a panel
constexpr Eigen::Index most_rows_of_runs = 48;

// A range [from, until) of indices; bins are of one size, and at most `most` of them.
struct Bin {
    Eigen::Index from = 0;
    Eigen::Index until = 0;
    Eigen::Index size() const { return until - from; }
};
std::vector<Bin> bins(Eigen::Index count, Eigen::Index most)
{
    const Eigen::Index size = std::max<Eigen::Index>(1, (count + most - 1) / most);
    std::vector<Bin> all;
    for (Eigen::Index from = 0; from < count; from += size) all.push_back({from, std::min(count, from + size)});
    return all;
}

// Indices of the phases that are waiting for gradients, or controls.
std::vector<Eigen::Index> phases_not_own(const std::vector<std::string>& phases)
{
    std::vector<Eigen::Index> all;
    for (std::size_t i = 0; i < phases.size(); ++i) {
        const base::PhaseCard* const known = base::find_phase(phases[i]);
        if (known != nullptr && (known->part == base::PhasePart::exchange || known->part == base::PhasePart::control))
            all.push_back(static_cast<Eigen::Index>(i));
    }
    return all;
}

// Time of a step without the phases in not_own, in ms.
double own_ms(const RankSteps& rank, Eigen::Index step, const std::vector<Eigen::Index>& not_own)
{
    double own = 0.0;
    for (Eigen::Index p = 0; p < rank.phase_ms.cols(); ++p) own += rank.phase_ms(step, p);
    for (const Eigen::Index p : not_own) own -= rank.phase_ms(step, p);
    return own;
}

// A row of the map: ranks of one run, over bins of its steps.
struct Row {
    const StepsOfRun* run = nullptr;
    Bin ranks;
    std::vector<Bin> columns;

    const StepTable& steps() const { return *run->steps; }
};

std::vector<Row> rows_of(const std::vector<StepsOfRun>& runs)
{
    const auto count = static_cast<Eigen::Index>(runs.size());
    const Eigen::Index ranks_apart = std::clamp<Eigen::Index>(most_rows_of_runs / count, 1, most_ranks_apart);
    std::vector<Row> rows;
    for (const StepsOfRun& run : runs)
        for (const Bin& ranks : bins(static_cast<Eigen::Index>(run.steps->ranks.size()), ranks_apart))
            rows.push_back({&run, ranks, bins(static_cast<Eigen::Index>(run.steps->numbers.size()), most_columns)});
    return rows;
}

std::string name_of_ranks(const std::vector<RankSteps>& ranks, const Bin& bin)
{
    const int first = ranks[static_cast<std::size_t>(bin.from)].rank;
    const int last = ranks[static_cast<std::size_t>(bin.until - 1)].rank;
    return first == last ? base::join("rank ", first) : base::join("ranks ", first, "-", last);
}

// Range of the colour scale, which one cell in fifty exceeds.
double reach_of(std::vector<double> percents)
{
    for (double& percent : percents) percent = std::abs(percent);
    std::sort(percents.begin(), percents.end());
    return std::max(1.0, percents[percents.size() - 1 - percents.size() / 50]);
}

base::LongColumn<double> mean_own_ms(const Row& row)
{
    const std::vector<Eigen::Index> not_own = phases_not_own(row.steps().phases);
    base::LongColumn<double> all;
    for (std::size_t i = 0; i < row.steps().numbers.size(); ++i) {
        double own = 0.0;
        for (Eigen::Index rank = row.ranks.from; rank < row.ranks.until; ++rank)
            own += own_ms(row.steps().ranks[static_cast<std::size_t>(rank)], static_cast<Eigen::Index>(i), not_own);
        all.push_back(own / static_cast<double>(row.ranks.size()));
    }
    return all;
}

// Mean of a value over the steps of a bin.
template <class Value>
double mean_over(const Bin& bin, const Value& value)
{
    double sum = 0.0;
    for (Eigen::Index i = bin.from; i < bin.until; ++i) sum += value(static_cast<std::size_t>(i));
    return sum / static_cast<double>(bin.size());
}

std::vector<double> write_heat_map(const std::filesystem::path& file, const std::vector<Row>& rows, bool of_runs)
{
    std::vector<std::string> head{"row",       "first_rank", "last_rank",          "first_step",
                                  "last_step", "own_ms",     "over_median_percent"};
    if (of_runs) head.emplace_back("run");
    base::CsvWriter table{file, head, base::CsvWriter::Appear::whole};
    std::vector<double> percents;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        const StepTable& steps = rows[r].steps();
        const base::LongColumn<double> own = mean_own_ms(rows[r]);
        const double median = base::median(own);
        for (const Bin& column : rows[r].columns) {
            const double mean = mean_over(column, [&](std::size_t step) { return own[step]; });
            percents.push_back(median > 0.0 ? 100.0 * (mean / median - 1.0) : 0.0);
            std::vector<std::string> cells{
                base::join(r),
                base::join(steps.ranks[static_cast<std::size_t>(rows[r].ranks.from)].rank),
                base::join(steps.ranks[static_cast<std::size_t>(rows[r].ranks.until - 1)].rank),
                base::join(steps.numbers[static_cast<std::size_t>(column.from)]),
                base::join(steps.numbers[static_cast<std::size_t>(column.until - 1)]),
                fixed(mean, 4),
                fixed(percents.back(), 3)};
            if (of_runs) cells.push_back(rows[r].run->name);
            table.write(cells);
        }
    }
    table.finish();
    return percents;
}

// Indices of the phases with any time.
std::vector<std::size_t> phases_with_time(const StepTable& steps)
{
    std::vector<std::size_t> found;
    for (std::size_t p = 0; p < steps.phases.size(); ++p) {
        const bool any = std::any_of(steps.ranks.begin(), steps.ranks.end(), [&](const RankSteps& rank) {
            for (Eigen::Index i = 0; i < rank.phase_ms.rows(); ++i)
                if (rank.phase_ms(i, static_cast<Eigen::Index>(p)) > 0.0) return true;
            return false;
        });
        if (any) found.push_back(p);
    }
    return found;
}

// Writes a run's rows. tops: gets the step time in each bin.
void write_phases(base::CsvWriter& table, const StepsOfRun& run, bool of_runs, std::vector<double>& tops)
{
    const StepTable& steps = *run.steps;
    const std::vector<std::size_t> shown = phases_with_time(steps);
    const RankSteps& clock = steps.ranks.front();
    const auto second = [&](std::int64_t ns) {
        return fixed(static_cast<double>(ns - clock.begin_ns.front()) / 1e9, 4);
    };
    for (const Bin& bin : bins(static_cast<Eigen::Index>(steps.numbers.size()), most_columns_of_phases)) {
        double from = 0.0;
        for (const std::size_t p : shown) {
            const double mean = mean_over(bin, [&](std::size_t step) {
                double sum = 0.0;
                for (const RankSteps& rank : steps.ranks)
                    sum += rank.phase_ms(static_cast<Eigen::Index>(step), static_cast<Eigen::Index>(p));
                return sum / static_cast<double>(steps.ranks.size());
            });
            std::vector<std::string> cells{second(clock.begin_ns[static_cast<std::size_t>(bin.from)]),
                                           second(clock.end_ns[static_cast<std::size_t>(bin.until - 1)]),
                                           steps.phases[p],
                                           fixed(mean, 4),
                                           fixed(from, 4),
                                           fixed(from + mean, 4)};
            if (of_runs) cells.push_back(run.name);
            table.write(cells);
            from += mean;
        }
        tops.push_back(from);
    }
}

}  // namespace

int room_for(const std::vector<std::string>& names)
{
    constexpr std::size_t pixels_of_letter = 8;
    std::size_t longest = 0;
    for (const std::string& name : names) longest = std::max(longest, name.size());
    return static_cast<int>(std::clamp<std::size_t>(pixels_of_letter * longest, 90, 300));
}

Plot draw_heat_map(const std::filesystem::path& folder, const std::vector<StepsOfRun>& runs)
{
    const bool of_runs = runs.size() > 1;
    const std::vector<Row> rows = rows_of(runs);
    const std::vector<double> percents = write_heat_map(folder / "heat_map.csv", rows, of_runs);
    std::vector<std::string> names;
    std::int64_t first = rows.front().steps().numbers.front();
    std::int64_t last = first;
    std::size_t columns = 0;
    for (const Row& row : rows) {
        const std::string ranks = name_of_ranks(row.steps().ranks, row.ranks);
        names.push_back(of_runs ? base::gnuplot_tic(row.run->name + ", " + ranks) : ranks);
        first = std::min(first, row.steps().numbers.front());
        last = std::max(last, row.steps().numbers.back());
        columns = std::max(columns, row.columns.size());
    }
    base::GnuplotVariables variables;
    variables.set("rows", rows.size());
    variables.set("columns", columns);
    variables.set("names", names);
    variables.set("left", room_for(names));
    variables.set("first", first);
    variables.set("last", last);
    variables.set("reach", reach_of(percents));
    return for_people(
        folder,
        {"heat_map",
         "Each rank over the steps",
         base::join(
             "Red: a rank's own time (the step without waiting for gradients, and without controls) is above its "
             "median",
             of_runs ? " in that run" : "",
             ", blue: below it, in percent. Other ranks wait for a rank whose row is red at times."),
         base::draw("interference", folder, "heat_map", variables, heat_map_gp),
         0,
         {"heat_map.csv"}});
}

Plot draw_phases_over_time(const std::filesystem::path& folder, const std::vector<StepsOfRun>& all_runs)
{
    const std::vector<StepsOfRun> runs(
        all_runs.begin(), all_runs.begin() + static_cast<std::ptrdiff_t>(std::min(all_runs.size(), most_panels)));
    std::vector<std::string> head{"begin_s", "end_s", "phase", "mean_ms", "from_ms", "until_ms"};
    if (runs.size() > 1) head.emplace_back("run");
    base::CsvWriter table{folder / "phases_over_time.csv", head, base::CsvWriter::Appear::whole};
    std::vector<double> tops;
    std::vector<std::string> phases;
    std::vector<std::string> names;
    double length_s = 0.0;
    for (const StepsOfRun& run : runs) {
        write_phases(table, run, runs.size() > 1, tops);
        for (const std::size_t p : phases_with_time(*run.steps))
            if (const std::string& phase = run.steps->phases[p];
                std::find(phases.begin(), phases.end(), phase) == phases.end())
                phases.push_back(phase);
        names.push_back(run.name);
        const RankSteps& clock = run.steps->ranks.front();
        length_s = std::max(length_s, static_cast<double>(clock.end_ns.back() - clock.begin_ns.front()) / 1e9);
    }
    table.finish();
    std::sort(tops.begin(), tops.end());
    const std::vector<std::string>& known = runs.front().steps->phases;
    std::vector<std::string> light;
    for (const std::string& phase : phases) {
        const auto place = static_cast<std::size_t>(std::find(known.begin(), known.end(), phase) - known.begin());
        light.push_back(phase_colour(phase, place).light);
    }
    base::GnuplotVariables variables;
    variables.set("phases", phases.size());
    variables.set("names", phases);
    variables.set("colours", light);
    variables.set("runs", runs.size());
    variables.set("names_of_runs", names);
    variables.set("column_of_run", runs.size() > 1 ? 7 : 3);
    variables.set("high", 1.15 * tops[tops.size() - 1 - tops.size() / 50]);
    variables.set("length_s", length_s);
    return for_people(
        folder, {"phases_over_time",
                 "The phases of a step over time",
                 "Phases stacked: the upper edge is the step. Mean over ranks, and over the steps of each column.",
                 base::draw("interference", folder, "phases_over_time", variables, phases_over_time_gp),
                 0,
                 {"phases_over_time.csv"}});
}

}  // namespace analysis
