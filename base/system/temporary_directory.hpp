// SPDX-License-Identifier: Apache-2.0
// Temporary directories and files that are removed automatically.
#pragma once

#include "base/descriptor.hpp"

#include <filesystem>
#include <string>

namespace base {

class TemporaryDirectory {
 public:
    // Creates NAME.XXXXXX in the directory for temporary files (TMPDIR). Throws std::system_error on failure.
    explicit TemporaryDirectory(const std::string& name);
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    const std::filesystem::path& path() const { return path_; }

    // The destructor will not remove the directory.
    void keep() { keeps_ = true; }

 private:
    std::filesystem::path path_;
    bool keeps_ = false;
};

// A file without a name, open for reading and writing. Throws std::system_error if it cannot be created in the
// directory.
Descriptor unnamed_file(const std::filesystem::path& directory);

}  // namespace base
