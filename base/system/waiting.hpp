// Waiting that lasts: signals do not cut it short.
#pragma once

#include "base/system/clock.hpp"

#include <cstdint>

namespace base {

// Sleeps until CLOCK_MONOTONIC has reached the deadline; the CPU is free meanwhile.
inline void sleep_through(std::int64_t deadline_ns)
{
    while (now_ns() < deadline_ns) sleep_until_ns(deadline_ns);
}

}  // namespace base
