// SPDX-License-Identifier: Apache-2.0
// Runs a job without noise for some seconds to predict a run with noise.
#pragma once

#include "crosstalk/run/request/request.hpp"

namespace crosstalk {

// Runs the job for request.duration from its first steps on. Prints the source, number and length of its steps, the
// necessary length of a run with noise, and obstacles. Returns the exit code. Throws as designed_run() does if there
// are no steps.
int try_job(const Request& request);

}  // namespace crosstalk
