// Variables of the environment.
#pragma once

#include <optional>
#include <string>

namespace base {

// None if it is not set, or empty.
std::optional<std::string> environment(const char* name);

// None also if it is not a whole number.
std::optional<int> environment_number(const char* name);

}  // namespace base
