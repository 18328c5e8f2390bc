// SPDX-License-Identifier: Apache-2.0
// Formats numbers for readers.
#pragma once

#include "analysis/estimate/inference.hpp"
#include "base/figures.hpp"

#include <string>

namespace analysis {

using base::counted;
using base::fixed;
using base::percent;
using base::signed_percent;

std::string range(const Interval& interval);  // "2.4 to 3.8 %"
std::string p_value(double p);                // "0.012", "< 0.001"
std::string length_needed(double minutes);    // rounded up: "150 s", "14 min", "3 h", "more than a day"
std::string length_measured(double minutes);  // rounded to the nearest

}  // namespace analysis
