// SPDX-License-Identifier: Apache-2.0
// How to measure further.
#pragma once

#include "analysis/results/report.hpp"

#include <optional>
#include <string>
#include <vector>

namespace analysis {

// A further measurement: for the forecast length if a factor is undecided and has a forecast, else for the length of
// this run.
struct Again {
    std::string what;  // "Run this again for ± 0.75 %, 14 min", "Continue measuring for .., 690 s more"
    std::optional<double> half_width_percent;  // expected half width
    double seconds = 0.0;                      // total length, with the time measured so far if the command adds to it
    std::string command;                       // command line for a shell
};

struct NextRun {
    std::optional<Again> again;  // none if no command is known, or a longer run would not help
    // [factor of the verdict]: why it is open, and what would help: "the budget lies in the interval; 150 s gave ±
    // 2.30 points; a new run of 14 min would give ± 0.75". Empty if it is not open.
    std::vector<std::string> outlooks;
    std::vector<std::string> commands;  // [factor]: runs the job as long as the forecast says; empty without one
};
NextRun next_run(const Report& report);

// The command for a total length of `minutes`. It adds to this run or set of runs, or makes a new run in another
// directory: from Report::again, else from the recorded command lines. Empty if there are none.
std::string command_for(const Report& report, double minutes);

}  // namespace analysis
