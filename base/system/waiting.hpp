// Waiting that lasts: signals do not cut it short.
#pragma once

#include "base/system/clock.hpp"

#include <cstdint>

namespace ddl {

// Sleeps until CLOCK_MONOTONIC has reached the deadline; the CPU is free meanwhile.
inline void sleep_through(std::int64_t deadline_ns)
{
    while (base::now_ns() < deadline_ns) base::sleep_until_ns(deadline_ns);
}

}  // namespace ddl
