// SPDX-License-Identifier: Apache-2.0
// A job without noise for some seconds: what a run of it would be.
#pragma once

#include "crosstalk/run/request/request.hpp"

namespace crosstalk {

// Runs the job for request.duration from its first steps on, and prints where its steps come from, how many there are
// and how long, for how long a run with noise has to be, and what is in its way. Returns the exit code. Throws as
// designed_run() does where there are no steps.
int try_job(const Request& request);

}  // namespace crosstalk
