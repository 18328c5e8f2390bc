// SPDX-License-Identifier: Apache-2.0
// Locates Crosstalk's own shared libraries, which are next to its programs.
#pragma once

#include <filesystem>
#include <string>

namespace base {

// Path of libNAME.so, in the build tree or as installed. Throws Unavailable that lists the places searched.
std::filesystem::path own_library(const std::string& name);

}  // namespace base
