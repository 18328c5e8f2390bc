#include "base/system/temporary_directory.hpp"

#include "base/error.hpp"

#include <system_error>

#include <stdlib.h>

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
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace base
