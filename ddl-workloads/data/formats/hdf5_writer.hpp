// SPDX-License-Identifier: Apache-2.0
// Writes samples to an HDF5 file: extensible datasets, in chunks with HDF5's checksum (Fletcher-32).
#pragma once

#include "ddl-workloads/data/data_set.hpp"

#include <filesystem>
#include <memory>

namespace ddl {

// Throws Error if the file cannot be created.
std::unique_ptr<DataSetWriter> hdf5_writer(const std::filesystem::path& path, const SampleShape& shape);

}  // namespace ddl
