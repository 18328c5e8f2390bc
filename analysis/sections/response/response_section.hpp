// SPDX-License-Identifier: Apache-2.0
// Response curves: which level of a noise the budget tolerates.
#pragma once

#include "analysis/sections/response/response.hpp"
#include "analysis/sections/section.hpp"

#include <string>
#include <vector>

namespace analysis {

// Adds the curves of the runs behind the report's verdict.
void add_curves(Report& report, const std::vector<RunOfCurve>& runs);

// Curves of noises whose cost grows with the level, and of cores kept, whose cost falls with it.
const std::vector<ResponseCurve>& curves_of(const Report& report);
const std::vector<ResponseCurve>& falling_curves_of(const Report& report);

// Draws response.svg from response_points.csv, with a panel for each curve.
Plot draw_response(const std::filesystem::path& folder, const Report& report);

// One sentence for each curve.
std::vector<std::string> curve_sentences(const Report& report);

}  // namespace analysis
