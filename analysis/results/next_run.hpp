// SPDX-License-Identifier: Apache-2.0
// The command that measures once more.
#pragma once

#include "analysis/results/report.hpp"

#include <string>

namespace analysis {

// Gives that much in all: adds to this run or set of runs, or makes a run anew into another directory, as Report::again
// says, else from the recorded command lines. Empty if there are none.
std::string command_for(const Report& report, double minutes);

// The addition that command makes to reach so much in all: "a new run of 14 min", "690 s more", "5 more runs".
std::string what_is_missing(const Report& report, double minutes);

// Why a factor that is_open() has no answer, and what would help: "the budget lies in the interval; 150 s gave ± 2.30
// points; a new run of 14 min would give ± 0.75".
std::string outlook(const Report& report, const FactorVerdict& factor);

}  // namespace analysis
