// SPDX-License-Identifier: Apache-2.0
// A tensor of a stored state, and the location of its numbers in the file.
#pragma once

#include "soft-errors/state/number_format.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace soft_errors {

struct Tensor {
    // plain: row by row from `at` on. chunks: row by row within each chunk. packed: only HDF5 can locate numbers.
    enum class Layout { plain, chunks, packed };

    std::string path = {};  // "model/layers.0.weight"
    NumberFormat format = {};
    std::vector<std::uint64_t> shape = {};  // empty: a single number
    std::uint64_t elements = 1;
    std::size_t file = 0;  // index in the state's `files`
    Layout layout = Layout::packed;
    std::uint64_t at = 0;                       // offset from the start of the HDF5 data
    std::vector<std::uint64_t> chunk = {};      // shape of a chunk; packed without chunks: the tensor's
    std::vector<std::uint64_t> chunks_at = {};  // offsets, with chunks in row-major order
    std::optional<std::uint32_t> crc32c = {};   // the tensor's attribute of that name
    bool opaque = false;                        // bytes without a type, as in Keras's bfloat16
};

// A dataset that is left alone, and why: text, a compound type, data in other files.
struct LeftAlone {
    std::string path = {};
    std::string why = {};
};

// The chunk that holds a number, counted in row-major order, and the number's index in the chunk.
struct InChunk {
    std::uint64_t chunk = 0;
    std::uint64_t index = 0;
};
InChunk in_chunk(const Tensor& tensor, std::uint64_t index);

// Index of the chunk's first number in each dimension.
std::vector<std::uint64_t> begin_of_chunk(const Tensor& tensor, std::uint64_t chunk);

}  // namespace soft_errors
