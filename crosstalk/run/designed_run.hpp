// SPDX-License-Identifier: Apache-2.0
// One designed run from end to end: the job, the noise beside it, the report.
#pragma once

#include "crosstalk/run/request/request.hpp"

namespace crosstalk {

// Returns the exit code: that of interference where there is a report; 3 where noise did not cover the job. Throws
// UsageError before anything is started, Error where the job fails or shows no steps. The request's directory then
// holds the logs, and status.json says what happened in any case.
int designed_run(const Request& request);

// The commands that it would start, and the slots of the noise; starts nothing that lasts.
int show_designed_run(const Request& request);

}  // namespace crosstalk
