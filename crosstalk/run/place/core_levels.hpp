// SPDX-License-Identifier: Apache-2.0
// The numbers of cores that job.cores tries: how many cores each rank keeps.
#pragma once

#include "base/system/cpus.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

namespace crosstalk {

// 1, 2, 3, 4, 6, 8, 12, 16, 24, .. and `most`: powers of two and the numbers halfway between them. The smallest
// sufficient level is then at most one and a half times the number really needed.
std::vector<std::size_t> core_levels(std::size_t most);

// The most physical cores that each of these processes can keep for itself alone.
std::size_t cores_of_a_rank(const std::set<pid_t>& ranks);

// "job.cores[keep=1|2|4,neighbour=memory.stream]"; without levels keep=auto, which is replaced once the ranks are
// known.
std::string noise_of_cores(const std::vector<std::size_t>& levels, const std::string& neighbour);

// Does the schedule take cores from the job?
bool takes_cores(const std::string& schedule);

// The schedule with keep=auto replaced by the levels for ranks that can keep `most` cores.
std::string with_core_levels(const std::string& schedule, std::size_t most);

}  // namespace crosstalk
