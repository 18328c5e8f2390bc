// SPDX-License-Identifier: Apache-2.0
// Activities of a GPU and requests of a program, as CUPTI records them.
#pragma once

#include <cstdint>
#include <string_view>

namespace gpu {

enum class ActivityKind : std::uint8_t { kernel, copy, set, call };

// Times are of the recording's clock, which CUPTI calls normalised: the same for calls and kernels, but not the
// trace's.
struct Activity {
    ActivityKind kind = ActivityKind::kernel;
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::uint32_t device = 0;       // of all but calls ..
    std::uint32_t stream = 0;       // .. and its number on the device
    std::uint32_t thread = 0;       // of calls: the system's number
    std::uint32_t correlation = 0;  // the same of a call and of what it started; 0: none
    std::uint64_t bytes = 0;        // copied or set
    std::string_view name;          // of the kernel, the call, or the directions of the copy: "host to device"
};

// One look at both clocks. The recording's was read between two looks at the trace's, which are twice `error_ns` apart.
struct ClockPair {
    std::int64_t recorded_ns = 0;
    std::int64_t trace_ns = 0;
    std::int64_t error_ns = 0;
};

}  // namespace gpu
