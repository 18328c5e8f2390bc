// SPDX-License-Identifier: Apache-2.0
// The clock of all programs, CLOCK_MONOTONIC in ns, and when two processes share it.
#pragma once

#include "base/units.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace base {

// A span of time on one clock.
struct TimeSpan {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
};

// CLOCK_MONOTONIC of this process's time namespace.
std::int64_t now_ns();

// CPU time of the calling thread.
std::int64_t thread_cpu_ns();

// CLOCK_REALTIME - CLOCK_MONOTONIC; CLOCK_REALTIME is read between two readings of CLOCK_MONOTONIC.
std::int64_t realtime_offset_ns();

// Estimated error of CLOCK_REALTIME, by the kernel's clock discipline (NTP, PTP); none if nothing disciplines the
// clock.
std::optional<std::int64_t> realtime_error_ns();

// Sleeps until the absolute CLOCK_MONOTONIC time; returns early only if a signal arrives.
void sleep_until_ns(std::int64_t deadline_ns);

// Two processes with equal identities read the same clock. A time namespace shifts CLOCK_MONOTONIC but keeps the boot
// id, so the namespace is part of the identity.
struct ClockIdentity {
    std::string boot_id;
    std::uint64_t time_namespace = 0;  // inode of /proc/self/ns/time; 0 where the kernel has none
    std::string clock = "CLOCK_MONOTONIC";

    bool operator==(const ClockIdentity&) const = default;
    std::string text() const;  // "boot-id/inode/CLOCK_MONOTONIC"
};

ClockIdentity clock_identity();

}  // namespace base
