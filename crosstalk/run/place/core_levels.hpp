// SPDX-License-Identifier: Apache-2.0
// Numbers of cores that a run of job.cores leaves each rank of a job.
#pragma once

#include "base/system/cpus.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

namespace crosstalk {

// 1, 2, 3, 4, 6, 8, 12, 16, 24, .. and `most`: half as many between powers of two, so that a number that is enough is
// at most half again what is needed.
std::vector<std::size_t> core_levels(std::size_t most);

// The physical cores that each of these processes can keep: the fewest that one may use; where they share CPUs, at most
// its part of them.
std::size_t cores_of_a_rank(const std::set<pid_t>& ranks);

// "job.cores[keep=auto,neighbour=memory.stream]"; without levels keep=auto, to be replaced once the ranks are known.
std::string noise_of_cores(const std::vector<std::size_t>& levels, const std::string& neighbour);

// Does the schedule take cores from the job?
bool takes_cores(const std::string& schedule);

// The schedule with the levels for this many cores of a rank, where it has keep=auto.
std::string with_core_levels(const std::string& schedule, std::size_t most);

}  // namespace crosstalk
