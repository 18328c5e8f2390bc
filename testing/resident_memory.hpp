// SPDX-License-Identifier: Apache-2.0
// Resident memory of this process, read from /proc.
#pragma once

#include <cstdint>
#include <fstream>

#include <unistd.h>

namespace testing {

// In bytes.
inline std::int64_t resident()
{
    std::ifstream statm{"/proc/self/statm"};
    std::int64_t all = 0;
    std::int64_t pages = 0;
    statm >> all >> pages;
    return pages * ::sysconf(_SC_PAGESIZE);
}

}  // namespace testing
