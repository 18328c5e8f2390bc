// SPDX-License-Identifier: Apache-2.0
// How a factor at one of its levels is written, by every program.
#pragma once

#include <string>

namespace base {

// "mem[rate=4GiB/s]"; the factor alone if it has one level.
inline std::string factor_name(const std::string& factor, const std::string& level)
{
    return level.empty() ? factor : factor + "[" + level + "]";
}

}  // namespace base
