// SPDX-License-Identifier: Apache-2.0
// Reads and writes numbers in layouts that only HDF5 can locate (chunks with filters, data in object headers). HDF5 may
// crash, so this is done in a child process.
#pragma once

#include "soft-errors/drawing/tensors.hpp"
#include "soft-errors/stored/stored_state.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace soft_errors {

using Number = NumberBits;

// Reads the bits of `numbers`, which all lie in file number `file` and are sorted by tensor.
void read_packed(const StoredState& state, std::size_t file, std::vector<Number>& numbers);

// A new value of a tensor's attribute crc32c.
struct NewChecksum {
    std::size_t tensor = 0;
    std::uint32_t value = 0;
};

// Changes of the file when HDF5 writes these numbers and checksums, both sorted by tensor. Throws Error.
struct NewBytes {
    std::uint64_t at = 0;  // offset from the start of the HDF5 data
    std::string bytes;
};
std::vector<NewBytes> written_by_hdf5(const StoredState& state, std::size_t file, const std::vector<Number>& numbers,
                                      const std::vector<NewChecksum>& checksums);

// All bytes of a tensor, row by row.
std::string read_whole_tensor(const StoredState& state, const Tensor& tensor);

}  // namespace soft_errors
