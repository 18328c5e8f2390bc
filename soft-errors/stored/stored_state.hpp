// SPDX-License-Identifier: Apache-2.0
// A stored state of a training: a single file, or the shards of a checkpoint.
#pragma once

#include "soft-errors/drawing/tensors.hpp"
#include "soft-errors/stored/stored_file.hpp"
#include "soft-errors/stored/tensor.hpp"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace soft_errors {

struct StoredState {
    std::filesystem::path path;  // as the user gave it
    std::vector<StoredFile> files;
    std::vector<Tensor> tensors;  // by file and path
    std::vector<LeftAlone> left_alone;
};

// The state's tensors, in the same order, for drawing.
NamedTensors named_tensors(const StoredState& state);

// Sets the format of numbers whose type the file does not name (bf16 in uint16) to `precision`. To be called before
// drawing.
void take_precision(StoredState& state, const std::string& precision);

// Reads the state in a child process. Throws Error, a one-line message, for any problem with it.
StoredState read_state(const std::filesystem::path& path);

// Offset in its file of number `index`, for a layout that is not packed.
std::uint64_t place_of(const StoredState& state, const Tensor& tensor, std::uint64_t index);

}  // namespace soft_errors
