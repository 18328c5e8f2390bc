// SPDX-License-Identifier: Apache-2.0
// Records in the datasets of an HDF5 file.
#pragma once

#include "ddl-workloads/data/data_set.hpp"

#include <filesystem>
#include <memory>

namespace ddl {

// Records of a file; without parts all of them. Throws Error, UsageError for direct access, which HDF5 does not have.
std::unique_ptr<Records> hdf5_records(const std::filesystem::path& path, const SampleShape& shape, Part part,
                                      const Reading& reading);

}  // namespace ddl
