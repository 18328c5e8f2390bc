// Which Crosstalk this is.
#pragma once

#include <string>

namespace base {

std::string version();       // "0.1.0"
std::string git_revision();  // of the sources when they were built, "unknown" outside a checkout

}  // namespace base
