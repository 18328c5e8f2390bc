// SPDX-License-Identifier: Apache-2.0
// Reads and changes single numbers of a stored state.
#pragma once

#include "soft-errors/stored/packed_tensors.hpp"
#include "soft-errors/stored/patches.hpp"

#include <vector>

namespace soft_errors {

// Fills in the bits of the numbers, which are sorted by tensor and index. Throws Error, std::system_error.
void read_numbers(const StoredState& state, std::vector<Number>& numbers);

// Patches of the files that give the numbers `before` the bits of `after`: for their own bytes and all that depend on
// them, sorted by file and offset. keep_checksum: the attribute crc32c is not updated, and then is wrong.
std::vector<Patch> patches_for(const StoredState& state, const std::vector<Number>& before,
                               const std::vector<Number>& after, bool keep_checksum);

}  // namespace soft_errors
