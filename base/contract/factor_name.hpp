// SPDX-License-Identifier: Apache-2.0
// The text form of a factor at one of its levels, for all programs.
#pragma once

#include <string>

namespace base {

// "mem[rate=4GiB/s]"; just "mem" if the factor has a single level.
inline std::string factor_name(const std::string& factor, const std::string& level)
{
    return level.empty() ? factor : factor + "[" + level + "]";
}

}  // namespace base
