// The command that measures once more.
#pragma once

#include "analysis/results/report.hpp"

#include <string>

namespace analysis {

// Gives that much in all: adds to this run or set of runs, or makes a run anew into another directory, as Report::again
// says, else from the recorded command lines. Empty if there are none.
std::string command_for(const Report& report, double minutes);

// What that command adds to what there is, so that it is that much in all: "a new run of 14 min", "690 s more",
// "5 more runs".
std::string what_is_missing(const Report& report, double minutes);

}  // namespace analysis
