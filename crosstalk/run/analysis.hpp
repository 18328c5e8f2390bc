// SPDX-License-Identifier: Apache-2.0
// Reports on a run, a run with parts, or a set of runs.
#pragma once

#include "crosstalk/run/request/request.hpp"

namespace crosstalk {

// interference analyse of request.whole, on these CPUs. Returns its exit code.
int analyse(const Request& request, const base::CpuSet& cpus);

// The report of what there was before is kept beside the new one: report.1, report.2, ..
void put_old_report_aside(const Request& request);

}  // namespace crosstalk
