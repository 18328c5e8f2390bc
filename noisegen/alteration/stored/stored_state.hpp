// A training's state as it is stored: in one file, or in the shards of a checkpoint.
#pragma once

#include "noisegen/alteration/stored/stored_file.hpp"
#include "noisegen/alteration/stored/tensor.hpp"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace noisegen {

struct StoredState {
    std::filesystem::path path;  // as the user names it
    std::vector<StoredFile> files;
    std::vector<Tensor> tensors;  // by file and path
    std::vector<LeftAlone> left_alone;
};

// Reads it in a confined child. Throws Error, one clear line, for whatever is wrong with it.
StoredState read_state(const std::filesystem::path& path);

// Where number `index` lies in its file, of a layout that is not packed.
std::uint64_t place_of(const StoredState& state, const Tensor& tensor, std::uint64_t index);

}  // namespace noisegen
