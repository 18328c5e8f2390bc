// SPDX-License-Identifier: Apache-2.0
// Which rank a location belongs to, for tables that people read.
#pragma once

#include "trace-tools/otf2/archive.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace otf2 {

// Indexed by location: its process's rank in the largest communicator of MPI; in an archive without one, or outside of
// it, -1.
std::vector<std::int64_t> ranks_of_locations(const Archive& archive);

// "rank 3"; of a location without a rank its name.
std::string rank_text(const Archive& archive, const std::vector<std::int64_t>& ranks, std::uint32_t location);

}  // namespace otf2
