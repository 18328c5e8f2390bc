// SPDX-License-Identifier: Apache-2.0
// Measures how many cores a job must keep: runs with job.cores, and their results.
#pragma once

#include "crosstalk/run/request/request.hpp"

#include <vector>

namespace crosstalk {

// Makes one run with the request's noise, or one for each number of OpenMP threads in DIR/threads-N, with all results
// in DIR/cores.csv and DIR/cores.json. Prints the number of cores and the settings for it. Returns the exit code of the
// first run that fails, else that of the last.
int cores_run(const Request& request, const std::vector<int>& threads);

}  // namespace crosstalk
