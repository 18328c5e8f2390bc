// SPDX-License-Identifier: Apache-2.0
#include "analysis/results/plots/run_plot.hpp"

#include "analysis/results/numbers.hpp"
#include "analysis/results/plots/palette.hpp"
#include "base/csv.hpp"
#include "base/programs/gnuplot.hpp"

#include <algorithm>

namespace analysis {

namespace {

constexpr const char* runs_gp =
#include "analysis/results/plots/runs.gp.inc"
    ;

std::string colour_of(const std::map<std::string, Colour>& colours, const std::string& factor)
{
    const auto found = colours.find(factor);
    return found == colours.end() ? "0x808080" : "0x" + found->second.light.substr(1);
}

}  // namespace

Plot draw_runs(const std::filesystem::path& folder, const Report& report, const std::vector<RunOnPlot>& rows)
{
    base::CsvWriter data{folder / "runs_plot.csv",
                         {"row", "effect_percent", "low_percent", "high_percent", "of_all", "colour", "name", "noise"}};
    double low = -report.verdict.budget_percent;
    double high = 1.5 * report.verdict.budget_percent;
    std::vector<std::string> names;
    const std::map<std::string, Colour> colours = colours_by_factor(report.run.plan);
    for (std::size_t r = 0; r < rows.size(); ++r) {
        const RunOnPlot& row = rows[r];
        data.row(rows.size() - r, fixed(row.percent, 5), fixed(row.interval.low, 5), fixed(row.interval.high, 5),
                 row.of_all ? 1 : 0, colour_of(colours, row.factor), row.name, row.factor);
        low = std::min(low, row.of_all ? std::max(row.interval.low, 3.0 * low) : row.interval.low);
        high = std::max(high, row.of_all ? std::min(row.interval.high, 3.0 * high) : row.interval.high);
        names.push_back(base::gnuplot_tic((row.of_all ? "" : "  ") + row.name));
    }
    base::GnuplotVariables variables;
    variables.set("rows", rows.size());
    variables.set("names", names);
    variables.set("budget", report.verdict.budget_percent);
    variables.set("low", low);
    variables.set("high", high);
    Plot plot{.name = "runs",
              .title = "Each noise in each run",
              .caption =
                  "Upper row of each noise, with the larger dot: all runs; other rows: single runs or parts. Lines: "
                  "intervals, cut at the edge of the plot."};
    plot.data = {"runs_plot.csv"};
    plot.drawn = base::draw("interference", folder, plot.name, variables, runs_gp);
    return for_people(folder, plot);
}

}  // namespace analysis
