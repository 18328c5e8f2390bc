// SPDX-License-Identifier: Apache-2.0
// A training's state as it is stored: in one file, or in the shards of a checkpoint.
#pragma once

#include "soft-errors/drawing/tensors.hpp"
#include "soft-errors/stored/stored_file.hpp"
#include "soft-errors/stored/tensor.hpp"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace soft_errors {

struct StoredState {
    std::filesystem::path path;  // as the user names it
    std::vector<StoredFile> files;
    std::vector<Tensor> tensors;  // by file and path
    std::vector<LeftAlone> left_alone;
};

// Its tensors, in the same order, as they are drawn from.
NamedTensors named_tensors(const StoredState& state);

// Reads numbers that only the precision names (bf16 in uint16) as what they are. Must come before anything is drawn.
void take_precision(StoredState& state, const std::string& precision);

// Reads it in a confined child. Throws Error, one clear line, for whatever is wrong with it.
StoredState read_state(const std::filesystem::path& path);

// Where number `index` lies in its file, of a layout that is not packed.
std::uint64_t place_of(const StoredState& state, const Tensor& tensor, std::uint64_t index);

}  // namespace soft_errors
