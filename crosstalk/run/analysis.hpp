// SPDX-License-Identifier: Apache-2.0
// Reports on a run, a run with parts, or a set of runs.
#pragma once

#include "crosstalk/run/request/request.hpp"

namespace crosstalk {

// Runs `interference analyse` on request.whole, on these CPUs. Returns its exit code.
int analyse(const Request& request, const base::CpuSet& cpus);

// Renames an earlier report to the first free name of report.1, report.2, ..
void put_old_report_aside(const Request& request);

}  // namespace crosstalk
