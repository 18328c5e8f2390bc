// SPDX-License-Identifier: Apache-2.0
// Numbers that only HDF5 finds: in chunks with filters, beside headers. And what changes in a file when HDF5 writes.
// Runs where it may crash.
#pragma once

#include "soft-errors/drawing/tensors.hpp"
#include "soft-errors/stored/stored_state.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace soft_errors {

using Number = NumberBits;

// Fills the bits of these numbers of one file, sorted by tensor.
void read_packed(const StoredState& state, std::size_t file, std::vector<Number>& numbers);

// A new value of a tensor's attribute crc32c.
struct NewChecksum {
    std::size_t tensor = 0;
    std::uint32_t value = 0;
};

// Changes of the file when HDF5 writes these numbers and checksums, which are sorted by tensor: begin, and the
// bytes from there on. Throws Error.
struct NewBytes {
    std::uint64_t at = 0;  // from HDF5's begin
    std::string bytes;
};
std::vector<NewBytes> written_by_hdf5(const StoredState& state, std::size_t file, const std::vector<Number>& numbers,
                                      const std::vector<NewChecksum>& checksums);

// All numbers of a tensor as they stand in the file, row by row.
std::string read_whole_tensor(const StoredState& state, const Tensor& tensor);

}  // namespace soft_errors
