// SPDX-License-Identifier: Apache-2.0
// Waiting that signals do not interrupt.
#pragma once

#include "base/system/clock.hpp"

#include <cstdint>

namespace base {

// Sleeps until CLOCK_MONOTONIC reaches the deadline.
inline void sleep_through(std::int64_t deadline_ns)
{
    while (now_ns() < deadline_ns) sleep_until_ns(deadline_ns);
}

// Polls until holds() returns true; returns false if that takes longer than `patience_ns`.
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
