// SPDX-License-Identifier: Apache-2.0
#include "noisegen/execution/threads/runqueue_delay.hpp"

#include <array>
#include <cstdlib>

#include <fcntl.h>
#include <unistd.h>

namespace noisegen {

RunqueueDelay::RunqueueDelay() : file_{::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)} {}

// Reads "RUN_NS WAIT_NS TIMESLICES" (Documentation/scheduler/sched-stats.rst).
std::int64_t RunqueueDelay::waited_ns() const
{
    std::array<char, 96> text{};
    if (file_ < 0 || ::pread(file_, text.data(), text.size() - 1, 0) <= 0) return 0;
    char* rest = nullptr;
    std::strtoll(text.data(), &rest, 10);
    return std::strtoll(rest, nullptr, 10);
}

}  // namespace noisegen
