// SPDX-License-Identifier: Apache-2.0
// Work on files from anywhere, by libraries that trust them: HDF5 crashes, or never ends, on some damaged files. It is
// done in a child process that can write nothing but its answer.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace soft_errors {

struct WorkLimits {
    std::uint64_t memory_bytes = std::uint64_t{2} << 30U;  // all that the child maps; no limit under sanitizers
    std::int64_t cpu_s = 10;                               // and ten times as long on the clock
};

// Forks; returns what the work returns there. Throws Error with the same text as the work, UsageError likewise; and
// "<what> crashes HDF5 .." or ".. takes more than .." where the child ended otherwise. To be called while there is one
// thread.
std::string confined_work(const std::string& what, const WorkLimits& limits, const std::function<std::string()>& work);

}  // namespace soft_errors
