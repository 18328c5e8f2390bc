// SPDX-License-Identifier: Apache-2.0
// One designed run from start to end: the job, the noise, the report.
#pragma once

#include "crosstalk/run/request/request.hpp"

namespace crosstalk {

// Returns the exit code: that of interference if there is a report; 3 if noise did not cover the job. Throws UsageError
// before anything is started, Error if the job fails or has no steps; the request's directory then holds the logs.
// status.json describes the outcome in any case.
int designed_run(const Request& request);

// Prints the commands that the run would start and the slots of the noise; leaves no process running.
int show_designed_run(const Request& request);

}  // namespace crosstalk
