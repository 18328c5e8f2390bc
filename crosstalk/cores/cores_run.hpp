// SPDX-License-Identifier: Apache-2.0
// Measures how many cores a job must keep: runs with job.cores, and their results.
#pragma once

#include "crosstalk/run/request/request.hpp"

#include <vector>

namespace crosstalk {

// Makes one run with the request's noise, or one for each number of OpenMP threads in DIR/threads-N, with all results
// in DIR/cores.csv and DIR/cores.json. Prints the number of cores and the settings for it. Ends at the first run
// without a report. Returns the first exit code that is not 0.
int cores_run(const Request& request, const std::vector<int>& threads);

// Prints the commands of each run, as show_designed_run() does.
int show_cores_run(const Request& request, const std::vector<int>& threads);

}  // namespace crosstalk
