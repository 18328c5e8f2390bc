// SPDX-License-Identifier: Apache-2.0
// More than one run: a set of runs of one design, and more of what there is.
#pragma once

#include "crosstalk/run/request/request.hpp"

namespace crosstalk {

// Adds runs to request.out, as DIR/run-1, DIR/run-2, ..: each starts the job again, with its own random order of noise
// and, where CPUs are not given, newly drawn cores. Then reports on all of them in DIR/report. Returns the exit code of
// that report, or of the run that failed.
int several_runs(const Request& request, int runs);

// Adds a part to the run in request.out, or `runs` runs to the set there: as it was asked for, in a fresh random order.
// Uses the request's length (0: as long as before), --fail-on and exports. Throws Error where `crosstalk run` did not
// make what is there.
int extended(const Request& request, int runs);

// The command that adds to a run, or to a set of runs: see interference analyse --again.
std::string command_to_extend(const Request& request, const std::filesystem::path& run);
std::string command_to_extend_set(const Request& request, const std::filesystem::path& set);

}  // namespace crosstalk
