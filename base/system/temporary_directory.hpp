// SPDX-License-Identifier: Apache-2.0
// Temporary directories and files that are removed automatically.
#pragma once

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/files.hpp"

#include <filesystem>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

namespace base {

class TemporaryDirectory {
 public:
    // Creates NAME.XXXXXX in the directory for temporary files (TMPDIR). Throws std::system_error on failure.
    explicit TemporaryDirectory(const std::string& name)
    {
        std::string made = std::filesystem::temp_directory_path() / (name + ".XXXXXX");
        if (::mkdtemp(made.data()) == nullptr) check_errno(-1, "create ", made);
        path_ = made;
    }

    ~TemporaryDirectory()
    {
        std::error_code ignored;
        if (!keeps_) remove_tree(path_, ignored);
    }

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
inline Descriptor unnamed_file(const std::filesystem::path& directory)
{
    const int file = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0) return {file};
    std::string name = directory / "crosstalk-XXXXXX";  // some file systems do not support O_TMPFILE
    Descriptor named{check_errno(::mkostemp(name.data(), O_CLOEXEC), "create a file in ", directory.string())};
    ::unlink(name.c_str());
    return named;
}

}  // namespace base
