// SPDX-License-Identifier: Apache-2.0
// Times of a GPU in a step of the rank that uses it.
#pragma once

#include <array>
#include <cstdint>

namespace gpu {

// Why no kernel computes at an instant. K is the device's next computing kernel in the step; it is launched once the
// call that launches it has ended. The first that holds:
enum class IdleCause : std::uint8_t {
    exchange,   // an exchange kernel runs; or the host waits for an exchange, and K is not launched or there is none
    nothing,    // there is no K
    unknown,    // the launch of K is not in the archive
    input,      // K is not launched: the host gets or copies its input
    host_wait,  // .. the thread that launches K is in a synchronisation
    launch,     // .. neither: the host was late
    copy,       // K is launched, and a copy runs
    queued      // K is launched, and nothing runs: the launch's way, another stream, gaps between kernels
};
inline constexpr std::array idle_causes{"exchange",  "nothing", "unknown", "input",
                                        "host_wait", "launch",  "copy",    "queued"};

// All times in ns. idle_ns + busy = wall; times of several streams at once count once.
struct GpuStep {
    std::int64_t rank = 0;
    std::int64_t step = 0;                 // -1: the whole run, of an archive without steps
    std::uint32_t device = 0;              // index into Accelerators::devices
    std::int64_t wall = 0;                 // the step on its rank
    std::int64_t busy = 0;                 // a kernel computes
    std::int64_t exchange = 0;             // an exchange kernel runs
    std::int64_t copy = 0;                 // a copy or a set runs
    std::int64_t exchange_overlapped = 0;  // .. while a kernel computes
    std::int64_t copy_overlapped = 0;
    std::int64_t copy_in_exchange = 0;  // a copy and an exchange run
    std::array<std::int64_t, idle_causes.size()> idle{};
    std::int64_t kernels = 0;   // that begin in the step, of computing and exchange
    std::int64_t launched = 0;  // of those, whose launch is known
    // From the end of the call to the begin of the kernel, 0 if that came first; of the launched ones.
    std::int64_t launch_delay_p50 = 0;
    std::int64_t launch_delay_p95 = 0;
    std::int64_t launch_delay_most = 0;
    std::int64_t host_delay = 0;          // the step's control_delay
    std::int64_t host_delay_covered = 0;  // of it, while a kernel computes

    std::int64_t idle_in_all() const { return wall - busy; }
};

}  // namespace gpu
