// SPDX-License-Identifier: Apache-2.0
// Response curves: which level of a noise the budget tolerates.
#pragma once

#include "analysis/sections/response/response.hpp"
#include "analysis/sections/section.hpp"

#include <string>
#include <vector>

namespace analysis {

// Adds the curves of runs that the report's verdict is on.
void add_curves(Report& report, const std::vector<RunOfCurve>& runs);

// Curves of noise that costs more with its level, and of cores kept, where more of them cost less.
const std::vector<ResponseCurve>& curves_of(const Report& report);
const std::vector<ResponseCurve>& falling_curves_of(const Report& report);

// response.svg from response_points.csv, a panel for each curve.
Plot draw_response(const std::filesystem::path& folder, const Report& report);

// A sentence each.
std::vector<std::string> curve_sentences(const Report& report);

}  // namespace analysis
