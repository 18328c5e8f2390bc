// SPDX-License-Identifier: Apache-2.0
// Placement of a run's job and noise.
#pragma once

#include "crosstalk/launchers/launcher.hpp"
#include "crosstalk/run/request/request.hpp"

namespace crosstalk {

// The launcher for the request. Throws UsageError if it needs a Slurm job and there is none.
std::unique_ptr<Launcher> launcher_for(const Request& request);

// Throws UsageError for CPUs that this process may not use, and if job or noise gets none.
Placement placement_for(const Request& request, const Launcher& launcher);

}  // namespace crosstalk
