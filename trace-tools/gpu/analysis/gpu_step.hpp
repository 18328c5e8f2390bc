// SPDX-License-Identifier: Apache-2.0
// Times of a GPU in a step of the rank that uses it.
#pragma once

#include <array>
#include <cstdint>

namespace gpu {

// Reasons why no kernel computes at a given time. K is the device's next computing kernel in the step; it counts as
// launched once its launching call has ended. The first matching reason applies:
enum class IdleCause : std::uint8_t {
    exchange,   // an exchange kernel runs; or the host waits for an exchange, and K does not exist or is not launched
    nothing,    // K does not exist
    unknown,    // the launch of K is not in the archive
    input,      // K is not launched, and the host gets or copies its input
    host_wait,  // K is not launched, and the thread that launches it is in a synchronisation
    launch,     // K is not launched, for neither reason: the host was late
    copy,       // K is launched, and a copy runs
    queued      // K is launched, but nothing runs: launch latency, another stream, gaps between kernels
};
inline constexpr std::array idle_causes{"exchange",  "nothing", "unknown", "input",
                                        "host_wait", "launch",  "copy",    "queued"};

// All times in ns. idle_ns + busy = wall; overlapping times of several streams count once.
struct GpuStep {
    std::int64_t rank = 0;
    std::int64_t step = 0;                 // -1: the whole run, in an archive without steps
    std::uint32_t device = 0;              // index into Accelerators::devices
    std::int64_t wall = 0;                 // length of the step on its rank
    std::int64_t busy = 0;                 // a kernel computes
    std::int64_t exchange = 0;             // an exchange kernel runs
    std::int64_t copy = 0;                 // a copy or a set runs
    std::int64_t exchange_overlapped = 0;  // an exchange kernel and a computing kernel run
    std::int64_t copy_overlapped = 0;
    std::int64_t copy_in_exchange = 0;  // a copy and an exchange kernel run
    std::array<std::int64_t, idle_causes.size()> idle{};
    std::int64_t kernels = 0;   // kernels (computing and exchange) that begin in the step
    std::int64_t launched = 0;  // kernels whose launch is known
    // Launch delay: from the end of the launching call to the start of the kernel; 0 if the kernel begins first.
    std::int64_t launch_delay_p50 = 0;
    std::int64_t launch_delay_p95 = 0;
    std::int64_t launch_delay_most = 0;
    std::int64_t host_delay = 0;          // the step's control_delay
    std::int64_t host_delay_covered = 0;  // the part of host_delay in which a kernel computes
};

}  // namespace gpu
