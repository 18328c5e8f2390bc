// SPDX-License-Identifier: Apache-2.0
// A tensor of a stored state, and where its numbers lie.
#pragma once

#include "soft-errors/state/number_format.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace soft_errors {

struct Tensor {
    // plain: row by row from `at` on. chunks: the same within each chunk. packed: only HDF5 finds it.
    enum class Layout { plain, chunks, packed };

    std::string path = {};  // "model/layers.0.weight"
    NumberFormat format = {};
    std::vector<std::uint64_t> shape = {};  // empty: a single number
    std::uint64_t elements = 1;
    std::size_t file = 0;  // its place among the state's
    Layout layout = Layout::packed;
    std::uint64_t at = 0;                       // from HDF5's begin
    std::vector<std::uint64_t> chunk = {};      // shape of a chunk; of a packed one that has none: the tensor's
    std::vector<std::uint64_t> chunks_at = {};  // in the order of the chunks, row by row
    std::optional<std::uint32_t> crc32c = {};   // its attribute
    bool opaque = false;                        // bytes without a type: Keras's bfloat16
};

// A dataset left alone, and why: texts, compound types, data in other files.
struct LeftAlone {
    std::string path = {};
    std::string why = {};
};

// The place of the chunk that holds it, among all row by row, and its place in that chunk.
struct InChunk {
    std::uint64_t chunk = 0;
    std::uint64_t index = 0;
};
InChunk in_chunk(const Tensor& tensor, std::uint64_t index);

// Where the chunk begins, in each dimension.
std::vector<std::uint64_t> begin_of_chunk(const Tensor& tensor, std::uint64_t chunk);

}  // namespace soft_errors
