// SPDX-License-Identifier: Apache-2.0
// Runs work on untrusted files in a child process that can write only its answer: HDF5 crashes, or never ends, on some
// damaged files.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace soft_errors {

struct WorkLimits {
    std::uint64_t memory_bytes = std::uint64_t{2} << 30U;  // all memory that the child maps; no limit under sanitizers
    std::int64_t cpu_s = 10;                               // CPU time; elapsed time may be ten times as long
};

// Forks, and returns the result of the work in the child. Throws Error or UsageError with the text of the work's own
// error, and Error "<what> crashes HDF5 .." or ".. takes more than .." where the child ended otherwise. The caller must
// have a single thread.
std::string confined_work(const std::string& what, const WorkLimits& limits, const std::function<std::string()>& work);

}  // namespace soft_errors
