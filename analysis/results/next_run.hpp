// SPDX-License-Identifier: Apache-2.0
// The command for a further measurement.
#pragma once

#include "analysis/results/report.hpp"

#include <string>

namespace analysis {

// The command for a total length of `minutes`. It adds to this run or set of runs, or makes a new run in another
// directory: from Report::again, else from the recorded command lines. Empty if there are none.
std::string command_for(const Report& report, double minutes);

// The addition by command_for() that reaches that length: "a new run of 14 min", "690 s more", "5 more runs".
std::string what_is_missing(const Report& report, double minutes);

// Why a factor is open (see is_open()), and what would help: "the budget lies in the interval; 150 s gave ± 2.30
// points; a new run of 14 min would give ± 0.75".
std::string outlook(const Report& report, const FactorVerdict& factor);

}  // namespace analysis
