// SPDX-License-Identifier: Apache-2.0
// Reads the records of an HDF5 file.
#pragma once

#include "ddl-workloads/data/data_set.hpp"

#include <filesystem>
#include <memory>

namespace ddl {

// The records of one part, or of the whole file if it has no parts. Throws Error, or UsageError for direct access,
// which HDF5 does not support.
std::unique_ptr<Records> hdf5_records(const std::filesystem::path& path, const SampleShape& shape, Part part,
                                      const Reading& reading);

}  // namespace ddl
