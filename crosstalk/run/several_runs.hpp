// SPDX-License-Identifier: Apache-2.0
// Sets of runs of one design, and extending a run or a set.
#pragma once

#include "crosstalk/run/request/request.hpp"

namespace crosstalk {

// Adds runs DIR/run-1, DIR/run-2, .. to request.out: each starts the job again, with its own random order of noise and,
// if CPUs are not given, newly drawn cores. Then reports on all of them in DIR/report. Returns the exit code of that
// report, or of a run that failed.
int several_runs(const Request& request, int runs);

// Adds a part to the run in request.out, or `runs` runs to the set there, with the recorded request and a new random
// order. Uses the length (0: the same as before), --fail-on and exports of `request`. Throws Error if the directory was
// not made by `crosstalk run`.
int extended(const Request& request, int runs);

// The command that extends a run, or a set of runs, for interference analyse --again.
std::string command_to_extend(const Request& request, const std::filesystem::path& run);
std::string command_to_extend_set(const Request& request, const std::filesystem::path& set);

}  // namespace crosstalk
