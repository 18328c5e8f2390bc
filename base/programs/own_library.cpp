// SPDX-License-Identifier: Apache-2.0
#include "base/programs/own_library.hpp"

#include "base/error.hpp"

#include <vector>

namespace base {

std::filesystem::path own_library(const std::string& name)
{
    const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    std::vector<std::string> places;
    for (const char* beside : {"../lib", CROSSTALK_LIBRARY_FOLDER}) {
        const std::filesystem::path library = (folder / beside / ("lib" + name + ".so")).lexically_normal();
        if (std::filesystem::exists(library)) return library;
        places.push_back(library.string());
    }
    unavailable("there is no ", places.front(), places.back() == places.front() ? "" : " and no " + places.back(),
                ": build the target ", name, ", or reinstall Crosstalk");
}

}  // namespace base
