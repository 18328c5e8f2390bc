#include "analysis/report/plots/step_plots.hpp"

#include "analysis/report/numbers.hpp"
#include "analysis/report/plots/for_people.hpp"
#include "analysis/report/plots/palette.hpp"
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
#include "analysis/report/plots/heat_map.gp.inc"
    ;
constexpr const char* phases_over_time_gp =
#include "analysis/report/plots/phases_over_time.gp.inc"
    ;

constexpr Eigen::Index most_columns = 120;
constexpr Eigen::Index most_columns_of_phases = 60;  // each is a box a phase
constexpr Eigen::Index most_ranks_apart = 16;

// [from, until): count things in at most `most` bins of one size.
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

// A step's time without waiting for gradients and without controls, in ms.
Eigen::VectorXd own_ms(const RankSteps& rank, const std::vector<std::string>& phases)
{
    Eigen::VectorXd own = rank.phase_ms.rowwise().sum();
    for (const base::TrainingPhase not_own : {base::TrainingPhase::wait_exchange, base::TrainingPhase::control_delay,
                                              base::TrainingPhase::control_settle}) {
        const auto found = std::find(phases.begin(), phases.end(), base::text(not_own));
        if (found != phases.end()) own -= rank.phase_ms.col(found - phases.begin());
    }
    return own;
}

std::string name_of_ranks(const std::vector<RankSteps>& ranks, const Bin& bin)
{
    const int first = ranks[static_cast<std::size_t>(bin.from)].rank;
    const int last = ranks[static_cast<std::size_t>(bin.until - 1)].rank;
    return first == last ? base::join("rank ", first) : base::join("ranks ", first, "-", last);
}

// How far the colours reach: beyond it one cell in fifty lies.
double reach_of(std::vector<double> percents)
{
    for (double& percent : percents) percent = std::abs(percent);
    std::sort(percents.begin(), percents.end());
    return std::max(1.0, percents[percents.size() - 1 - percents.size() / 50]);
}

std::vector<double> write_heat_map(const std::filesystem::path& file, const StepTable& steps,
                                   const std::vector<Bin>& rows, const std::vector<Bin>& columns)
{
    base::CsvWriter table{
        file,
        {"row", "first_rank", "last_rank", "first_step", "last_step", "own_ms", "over_median_percent"},
        base::CsvWriter::Appear::whole};
    std::vector<double> percents;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        Eigen::VectorXd own = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(steps.numbers.size()));
        for (Eigen::Index rank = rows[r].from; rank < rows[r].until; ++rank)
            own += own_ms(steps.ranks[static_cast<std::size_t>(rank)], steps.phases);
        own /= static_cast<double>(rows[r].size());
        const double median = base::median({own.begin(), own.end()});
        for (const Bin& column : columns) {
            const double mean = own.segment(column.from, column.size()).mean();
            percents.push_back(median > 0.0 ? 100.0 * (mean / median - 1.0) : 0.0);
            table.row(r, steps.ranks[static_cast<std::size_t>(rows[r].from)].rank,
                      steps.ranks[static_cast<std::size_t>(rows[r].until - 1)].rank,
                      steps.numbers[static_cast<std::size_t>(column.from)],
                      steps.numbers[static_cast<std::size_t>(column.until - 1)], fixed(mean, 4),
                      fixed(percents.back(), 3));
        }
    }
    table.finish();
    return percents;
}

// Which phases took time at all, as indices into the table's.
std::vector<std::size_t> phases_with_time(const Eigen::MatrixXd& measured)
{
    std::vector<std::size_t> found;
    for (Eigen::Index p = 1; p < measured.cols(); ++p)
        if (measured.col(p).sum() > 0.0) found.push_back(static_cast<std::size_t>(p) - 1);
    return found;
}

}  // namespace

Plot draw_heat_map(const std::filesystem::path& folder, const Report& report)
{
    const StepTable& steps = report.run.steps;
    const std::vector<Bin> rows = bins(static_cast<Eigen::Index>(steps.ranks.size()), most_ranks_apart);
    const std::vector<Bin> columns = bins(static_cast<Eigen::Index>(steps.numbers.size()), most_columns);
    const std::vector<double> percents = write_heat_map(folder / "heat_map.csv", steps, rows, columns);
    std::vector<std::string> names;
    for (const Bin& row : rows) names.push_back(name_of_ranks(steps.ranks, row));
    base::GnuplotVariables variables;
    variables.set("rows", rows.size());
    variables.set("columns", columns.size());
    variables.set("names", names);
    variables.set("first", steps.numbers.front());
    variables.set("last", steps.numbers.back());
    variables.set("reach", reach_of(percents));
    return for_people(
        folder, {"heat_map",
                 "Each rank over the steps",
                 "Red: a rank's own time (the step without waiting for gradients, and without controls) is above its "
                 "median, blue: below it, in percent. A row that is red at times is a rank that the others wait for.",
                 base::draw("interference", folder, "heat_map", variables, heat_map_gp),
                 0,
                 {"heat_map.csv"}});
}

Plot draw_phases_over_time(const std::filesystem::path& folder, const Report& report)
{
    const StepTable& steps = report.run.steps;
    const Eigen::MatrixXd measured = job_measures(steps);
    const std::vector<std::size_t> shown = phases_with_time(measured);
    const RankSteps& clock = steps.ranks.front();
    base::CsvWriter table{folder / "phases_over_time.csv",
                          {"begin_s", "end_s", "phase", "mean_ms", "from_ms", "until_ms"},
                          base::CsvWriter::Appear::whole};
    std::vector<double> tops;
    for (const Bin& bin : bins(measured.rows(), most_columns_of_phases)) {
        const auto second = [&](std::int64_t ns) {
            return fixed(static_cast<double>(ns - clock.begin_ns[0]) / 1e9, 4);
        };
        double from = 0.0;
        for (const std::size_t p : shown) {
            const double mean = measured.col(static_cast<Eigen::Index>(p) + 1).segment(bin.from, bin.size()).mean();
            table.row(second(clock.begin_ns[static_cast<std::size_t>(bin.from)]),
                      second(clock.end_ns[static_cast<std::size_t>(bin.until - 1)]), steps.phases[p], fixed(mean, 4),
                      fixed(from, 4), fixed(from + mean, 4));
            from += mean;
        }
        tops.push_back(from);
    }
    table.finish();
    std::sort(tops.begin(), tops.end());
    std::vector<std::string> names;
    std::vector<std::string> light;
    for (const std::size_t p : shown) {
        names.push_back(steps.phases[p]);
        light.push_back(phase_colour(steps.phases[p], p).light);
    }
    base::GnuplotVariables variables;
    variables.set("phases", names.size());
    variables.set("names", names);
    variables.set("colours", light);
    variables.set("high", 1.15 * tops[tops.size() - 1 - tops.size() / 50]);
    variables.set("length_s", static_cast<double>(clock.end_ns.back() - clock.begin_ns.front()) / 1e9);
    return for_people(
        folder, {"phases_over_time",
                 "The phases of a step over time",
                 "Phases stacked: the upper edge is the step. Mean over ranks, and over the steps of each column.",
                 base::draw("interference", folder, "phases_over_time", variables, phases_over_time_gp),
                 0,
                 {"phases_over_time.csv"}});
}

}  // namespace analysis
