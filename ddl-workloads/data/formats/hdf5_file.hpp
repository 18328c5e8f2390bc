// SPDX-License-Identifier: Apache-2.0
// HDF5 files of samples: which datasets hold a part, and their rows. To be used under hdf5::Lock.
#pragma once

#include "ddl-workloads/data/data_set.hpp"
#include "ddl-workloads/data/hdf5.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ddl::hdf5 {

// Throws std::system_error, Error for what is no HDF5 file.
File open_file(const std::filesystem::path& path);

// "/train/" or "/held_out/", or "/" of a file without parts.
std::string group_of(const File& file, Part part);

// A dataset of whole numbers with 1 to 4 dimensions. A row has one index in the first of them.
struct Rows {
    std::string name;
    DataSet set;
    std::vector<hsize_t> sizes;
    Space space;
    Space one;  // row, in memory
};

// Throws Error if there is none.
Rows open_rows(const File& file, const std::filesystem::path& path, const std::string& name);

// -1 for more than any sample has.
std::int64_t numbers_in_row(const Rows& rows);

// `count` rows from `first` on, as `type`. Returns why HDF5 cannot read them, or nothing.
std::string read_rows(const Rows& rows, hsize_t first, hsize_t count, hid_t type, void* into);

// Where the rows lie in the file, one after the other as bytes 0 to 255; nothing if HDF5 must unpack or check them.
std::optional<haddr_t> plain_bytes(const Rows& rows);

// The shape that is kept with the samples; files of others have none. Throws Error for what is no shape.
void keep_shape(const File& file, const SampleShape& shape);
std::optional<SampleShape> kept_shape(const File& file, const std::filesystem::path& path);

}  // namespace ddl::hdf5
