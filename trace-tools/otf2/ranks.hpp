// SPDX-License-Identifier: Apache-2.0
// The MPI rank of each location, for tables that people read.
#pragma once

#include "trace-tools/otf2/archive.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace otf2 {

// Indexed by location: rank of its process in the largest MPI communicator; -1 if there is no such communicator, or the
// process is not in it.
std::vector<std::int64_t> ranks_of_locations(const Archive& archive);

// Returns "rank 3", or the location's name if it has no rank.
std::string rank_text(const Archive& archive, const std::vector<std::int64_t>& ranks, std::uint32_t location);

}  // namespace otf2
