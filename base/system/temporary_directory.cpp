// SPDX-License-Identifier: Apache-2.0
#include "base/system/temporary_directory.hpp"

#include "base/error.hpp"
#include "base/files.hpp"

#include <system_error>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

namespace base {

TemporaryDirectory::TemporaryDirectory(const std::string& name)
{
    std::string made = std::filesystem::temp_directory_path() / (name + ".XXXXXX");
    if (::mkdtemp(made.data()) == nullptr) check_errno(-1, "create ", made);
    path_ = made;
}

TemporaryDirectory::~TemporaryDirectory()
{
    std::error_code ignored;
    if (!keeps_) remove_tree(path_, ignored);
}

Descriptor unnamed_file(const std::filesystem::path& directory)
{
    const int file = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0) return {file};
    std::string name = directory / "crosstalk-XXXXXX";  // some file systems do not support O_TMPFILE
    Descriptor named{check_errno(::mkostemp(name.data(), O_CLOEXEC), "create a file in ", directory.string())};
    ::unlink(name.c_str());
    return named;
}

}  // namespace base
