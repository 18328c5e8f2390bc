// SPDX-License-Identifier: Apache-2.0
// Shared libraries of Crosstalk's own, beside its programs.
#pragma once

#include <filesystem>
#include <string>

namespace base {

// Where libNAME.so is: as in the build tree, or as installed. Throws Unavailable with the places where it is not.
std::filesystem::path own_library(const std::string& name);

}  // namespace base
