// SPDX-License-Identifier: Apache-2.0
#include "analysis/results/numbers.hpp"
#include "analysis/sections/cores/cores_section.hpp"
#include "analysis/sections/response/response_section.hpp"
#include "base/csv.hpp"
#include "base/programs/gnuplot.hpp"

#include <algorithm>

namespace analysis {

namespace {

constexpr const char* cores_gp =
#include "analysis/sections/cores/cores.gp.inc"
    ;

}  // namespace

Plot draw_cores(const std::filesystem::path& folder, const Report& report)
{
    base::CsvWriter data{folder / "cores_points.csv",
                         {"panel", "keep", "effect_percent", "low_percent", "high_percent", "fitted_percent", "name"}};
    std::vector<std::string> names;
    std::vector<double> most;
    std::vector<double> enough;
    double low = 0.0;
    double high = 1.5 * report.verdict.budget_percent;
    for (std::size_t c = 0; c < falling_curves_of(report).size(); ++c) {
        const ResponseCurve& curve = falling_curves_of(report)[c];
        names.push_back(curve.factor);
        most.push_back(curve.points.front().dose);
        enough.push_back(cores_needed(curve, report.verdict).enough.value_or(0));
        for (const CurvePoint& point : curve.points) {
            const Interval interval = point.percent.interval(report.verdict.confidence_each);
            data.row(c, point.dose, fixed(point.percent.value, 5), fixed(interval.low, 5), fixed(interval.high, 5),
                     fixed(point.fitted_percent, 5), curve.factor);
            low = std::min(low, interval.low);
            high = std::max(high, interval.high);
        }
    }
    base::GnuplotVariables variables;
    variables.set("curves", names.size());
    variables.set("names", names);
    variables.set("most", most);
    variables.set("enough", enough);
    variables.set("budget", report.verdict.budget_percent);
    variables.set("low", low);
    variables.set("high", high);
    Plot plot{.name = "cores",
              .title = "What fewer cores cost the job",
              .caption =
                  "Dots: the slowdown with this number of cores kept, with its interval. Line: the monotone "
                  "curve. Red: the budget. Shaded: numbers of cores that are shown to be enough."};
    plot.data = {"cores_points.csv"};
    plot.drawn = base::draw("interference", folder, plot.name, variables, cores_gp);
    return for_people(folder, plot);
}

}  // namespace analysis
