// SPDX-License-Identifier: Apache-2.0
// The processes of a measured job: those that control.pause stops, and their CPUs.
#pragma once

#include "base/system/cpus.hpp"

#include <set>
#include <vector>

#include <sys/types.h>

namespace crosstalk {

// The processes that control.pause stops, with their descendants: those that launchers started, or the job itself.
std::set<pid_t> victims_of(pid_t job);

// The processes of the job's ranks, in their launcher's order. Without a launcher: the first process that is not a
// shell. Empty if they are not known.
std::vector<pid_t> ranks_of(pid_t job);

// True if every process handles SIGTERM itself, for example to end in good order.
bool handle_sigterm(const std::set<pid_t>& processes);

// CPUs outside of `given` that processes of the job have bound themselves to.
base::CpuSet bound_elsewhere(pid_t job, const base::CpuSet& given);

}  // namespace crosstalk
