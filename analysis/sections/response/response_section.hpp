// Response curves: which level of a noise the budget tolerates.
#pragma once

#include "analysis/sections/response/response.hpp"
#include "analysis/sections/section.hpp"

#include <string>
#include <vector>

namespace analysis {

// Of runs whose verdict is the report's.
void add_curves(Report& report, const std::vector<RunOfCurve>& runs);

const std::vector<ResponseCurve>& curves_of(const Report& report);

// A sentence each.
std::vector<std::string> curve_sentences(const Report& report);

}  // namespace analysis
