// SPDX-License-Identifier: Apache-2.0
// A directory and a file that are removed with their last user.
#pragma once

#include "base/descriptor.hpp"

#include <filesystem>
#include <string>

namespace base {

class TemporaryDirectory {
 public:
    // In the directory for temporary files (TMPDIR), as NAME.XXXXXX. Throws std::system_error if it cannot be made.
    explicit TemporaryDirectory(const std::string& name);
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    const std::filesystem::path& path() const { return path_; }

    // It stays when this ends.
    void keep() { keeps_ = true; }

 private:
    std::filesystem::path path_;
    bool keeps_ = false;
};

// A file without a name, to read and write. Throws std::system_error if the directory can hold none.
Descriptor unnamed_file(const std::filesystem::path& directory);

}  // namespace base
