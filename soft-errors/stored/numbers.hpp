// SPDX-License-Identifier: Apache-2.0
// Reads and changes single numbers of a stored state.
#pragma once

#include "soft-errors/stored/packed_tensors.hpp"
#include "soft-errors/stored/patches.hpp"

#include <vector>

namespace soft_errors {

// Fills in their bits. Sorted by tensor and index. Throws Error, std::system_error.
void read_numbers(const StoredState& state, std::vector<Number>& numbers);

// Changes in the files if the numbers, of which `before` are the same, get new bits: their own bytes, and those
// that depend on them. `keep_checksum`: the attribute crc32c stays, which is wrong then. By file and place.
std::vector<Patch> patches_for(const StoredState& state, const std::vector<Number>& before,
                               const std::vector<Number>& after, bool keep_checksum);

}  // namespace soft_errors
