// SPDX-License-Identifier: Apache-2.0
// HDF5 files of samples: the datasets that hold a part, and their rows. Call these functions under hdf5::Lock.
#pragma once

#include "ddl-workloads/data/data_set.hpp"
#include "ddl-workloads/data/hdf5.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ddl::hdf5 {

// Throws std::system_error, or Error if it is not an HDF5 file.
File open_file(const std::filesystem::path& path);

// "/train/" or "/held_out/", or "/" in a file without parts.
std::string group_of(const File& file, Part part);

// A dataset of whole numbers with 1 to 4 dimensions. Its rows are numbered by the first dimension.
struct Rows {
    std::string name;
    DataSet set;
    std::vector<hsize_t> sizes;
    Space space;
    Space one;  // a single row in memory
};

// Throws Error if there is no such dataset.
Rows open_rows(const File& file, const std::filesystem::path& path, const std::string& name);

// Returns -1 if a row is larger than any sample can be.
std::int64_t numbers_in_row(const Rows& rows);

// Reads `count` rows from `first` on, converted to `type`. Returns HDF5's error message; empty on success.
std::string read_rows(const Rows& rows, hsize_t first, hsize_t count, hid_t type, void* into);

// Offset in the file at which the rows lie contiguously as unsigned bytes; nothing if HDF5 must unpack or check them.
std::optional<haddr_t> plain_bytes(const Rows& rows);

// The shape stored with the samples; only files written by Crosstalk have one. Throws Error if it is invalid.
void keep_shape(const File& file, const SampleShape& shape);
std::optional<SampleShape> kept_shape(const File& file, const std::filesystem::path& path);

}  // namespace ddl::hdf5
