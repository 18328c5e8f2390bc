// SPDX-License-Identifier: Apache-2.0
// Where the job and the noise of a run go.
#pragma once

#include "crosstalk/launchers/launcher.hpp"
#include "crosstalk/run/request/request.hpp"

namespace crosstalk {

// How they are started. Throws UsageError outside of a job of Slurm that is asked for.
std::unique_ptr<Launcher> launcher_for(const Request& request);

// Throws UsageError for CPUs that this process may not use, and where a part gets none.
Placement placement_for(const Request& request, const Launcher& launcher);

}  // namespace crosstalk
