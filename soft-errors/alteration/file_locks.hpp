// SPDX-License-Identifier: Apache-2.0
// Locks on files while they are altered or copied: flock(), as HDF5 takes it on a file that it has open.
#pragma once

#include "base/descriptor.hpp"

#include <filesystem>
#include <vector>

namespace soft_errors {

// Locks files for its lifetime: no other alteration, and no program that opens them with HDF5's own locks, changes
// them; nor, if they are locked to be changed, reads them.
class FileLocks {
 public:
    enum class For { reading, changing };

    // On the file, or on each file of the directory. Throws Error if another process has locked one, std::system_error
    // if one cannot be opened so. A file system without locks goes without.
    FileLocks(const std::filesystem::path& target, For what);

 private:
    void lock(const std::filesystem::path& file, For what);

    std::vector<base::Descriptor> locked_;
};

}  // namespace soft_errors
