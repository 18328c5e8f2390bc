// SPDX-License-Identifier: Apache-2.0
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

// Looks again and again until it holds; false if that takes longer than the patience.
template <class Holds>
bool wait_until(const Holds& holds, std::int64_t patience_ns, std::int64_t look_again_ns = 1'000'000)
{
    const std::int64_t deadline_ns = now_ns() + patience_ns;
    while (!holds()) {
        if (now_ns() > deadline_ns) return false;
        sleep_until_ns(now_ns() + look_again_ns);
    }
    return true;
}

}  // namespace base
