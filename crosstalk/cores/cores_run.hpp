// SPDX-License-Identifier: Apache-2.0
// How many cores must a job keep? Runs of job.cores, and the answer of their reports.
#pragma once

#include "crosstalk/run/request/request.hpp"

#include <vector>

namespace crosstalk {

// A run with the request's noise, or one for each number of OpenMP threads in DIR/threads-N: then DIR/cores.csv and
// DIR/cores.json hold all of them. Prints the answer and its settings. Returns the exit code of the first run that
// fails, else that of the last.
int cores_run(const Request& request, const std::vector<int>& threads);

}  // namespace crosstalk
