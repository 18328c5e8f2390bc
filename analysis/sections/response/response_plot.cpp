// SPDX-License-Identifier: Apache-2.0
#include "analysis/results/numbers.hpp"
#include "analysis/results/plots/palette.hpp"
#include "analysis/sections/response/response_section.hpp"
#include "base/csv.hpp"

#include <algorithm>
#include <cmath>

namespace analysis {

namespace {

constexpr const char* response_gp =
#include "analysis/sections/response/response.gp.inc"
    ;

// A divisor of doses that gives short numbers on the axis, and the title of the axis.
struct DoseAxis {
    double unit = 1.0;
    std::string name;
};

DoseAxis axis_of(const ResponseCurve& curve)
{
    const std::string of = curve.achieved ? ", achieved" : ", asked";
    if (curve.unit != "bytes/s") return {1.0, (curve.unit.empty() ? curve.option : curve.unit) + of};
    const double highest = curve.points.back().dose;
    return highest >= 1e9 ? DoseAxis{1e9, "GB/s" + of} : DoseAxis{1e6, "MB/s" + of};
}

std::string light_colour(const std::map<std::string, Colour>& colours, const std::string& factor)
{
    const auto found = colours.find(factor);
    return found == colours.end() ? "#808080" : found->second.light;
}

std::string dose_on_axis(const ResponseCurve& curve, double dose)
{
    return fixed(dose / axis_of(curve).unit, 6);
}

}  // namespace

Plot draw_curves(const std::filesystem::path& folder, const Report& report, const std::vector<ResponseCurve>& curves,
                 const CurvesPlot& what)
{
    Plot plot = what.plot;
    plot.data = {plot.name + "_points.csv"};
    base::CsvWriter data{
        folder / plot.data.front(),
        {"panel", what.dose_column, "effect_percent", "low_percent", "high_percent", "fitted_percent", "name"}};
    std::vector<std::string> names;
    double low = 0.0;
    double high = 1.5 * report.verdict.budget_percent;
    for (std::size_t c = 0; c < curves.size(); ++c) {
        const ResponseCurve& curve = curves[c];
        names.push_back(curve.factor);
        if (curve.option == "rate" || curve.option == "duty") data.row(c, 0, "NaN", "NaN", "NaN", 0, curve.factor);
        for (const CurvePoint& point : curve.points) {
            const Interval interval = point.percent.interval(report.verdict.confidence_each);
            data.row(c, what.dose(curve, point.dose), fixed(point.percent.value, 5), fixed(interval.low, 5),
                     fixed(interval.high, 5), fixed(point.fitted_percent, 5), curve.factor);
            low = std::min(low, interval.low);
            high = std::max(high, interval.high);
        }
    }
    base::GnuplotVariables variables;
    variables.set("curves", names.size());
    variables.set("names", names);
    what.set_own(variables);
    variables.set("budget", report.verdict.budget_percent);
    variables.set("low", low);
    variables.set("high", high);
    plot.drawn = base::draw("interference", folder, plot.name, variables, what.script);
    return for_people(folder, plot);
}

Plot draw_response(const std::filesystem::path& folder, const Report& report)
{
    const auto set_own = [&](base::GnuplotVariables& variables) {
        std::vector<std::string> axes;
        std::vector<std::string> of_panels;
        std::vector<double> highest;
        std::vector<double> tolerated;
        const std::map<std::string, Colour> colours = colours_by_factor(report.run.plan);
        for (const ResponseCurve& curve : curves_of(report)) {
            const DoseAxis axis = axis_of(curve);
            axes.push_back(axis.name);
            of_panels.push_back(light_colour(colours, curve.factor));
            highest.push_back(curve.points.back().dose / axis.unit);
            tolerated.push_back(curve.tolerated.low.value_or(-highest.back()) / axis.unit);
        }
        variables.set("axes", axes);
        variables.set("colours", of_panels);
        variables.set("highest", highest);
        variables.set("tolerated", tolerated);
    };
    return draw_curves(
        folder, report, curves_of(report),
        {.plot = {.name = "response",
                  .title = "How the slowdown grows with the level",
                  .caption =
                      "Dots: the effect of each level with its interval. Line: the monotone curve. Red: the budget. "
                      "Shaded: levels up to which the interval stays below it."},
         .script = response_gp,
         .dose_column = "dose",
         .dose = dose_on_axis,
         .set_own = set_own});
}

}  // namespace analysis
