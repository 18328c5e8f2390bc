// SPDX-License-Identifier: Apache-2.0
// Response curves: which level of a noise the budget tolerates.
#pragma once

#include "analysis/sections/response/response.hpp"
#include "analysis/sections/section.hpp"
#include "base/programs/gnuplot.hpp"

#include <functional>
#include <string>
#include <vector>

namespace analysis {

// Adds the curves of the runs behind the report's verdict.
void add_curves(Report& report, const std::vector<RunOfCurve>& runs);

// Curves of noises whose cost grows with the level, and of cores kept, whose cost falls with it.
const std::vector<ResponseCurve>& curves_of(const Report& report);
const std::vector<ResponseCurve>& falling_curves_of(const Report& report);

// A plot of curves, each in its panel: its name and words, and what its script needs beside the points.
struct CurvesPlot {
    Plot plot;
    const char* script;
    const char* dose_column;
    std::string (*dose)(const ResponseCurve& curve, double dose);  // a cell of that column
    std::function<void(base::GnuplotVariables&)> set_own;
};
// Draws NAME.svg from NAME_points.csv.
Plot draw_curves(const std::filesystem::path& folder, const Report& report, const std::vector<ResponseCurve>& curves,
                 const CurvesPlot& what);

// Draws response.svg, with a panel for each curve.
Plot draw_response(const std::filesystem::path& folder, const Report& report);

// One sentence for each curve.
std::vector<std::string> curve_sentences(const Report& report);

}  // namespace analysis
