// SPDX-License-Identifier: Apache-2.0
// Locks on files while they are altered or copied: flock(), which HDF5 also uses on a file that it has open.
#pragma once

#include "base/descriptor.hpp"

#include <filesystem>
#include <vector>

namespace soft_errors {

// Locks files for its lifetime against other alterations and against programs that open files with HDF5's own locks.
// They cannot change the files, nor, with For::changing, read them.
class FileLocks {
 public:
    enum class For { reading, changing };

    // Locks the file, or each file of the directory. Throws Error if another process has locked one, std::system_error
    // if one cannot be opened. On a file system without locks nothing is locked.
    FileLocks(const std::filesystem::path& target, For what);

 private:
    void lock(const std::filesystem::path& file, For what);

    std::vector<base::Descriptor> locked_;
};

}  // namespace soft_errors
