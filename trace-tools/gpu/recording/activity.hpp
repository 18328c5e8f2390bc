// SPDX-License-Identifier: Apache-2.0
// Activities of a GPU and calls of a program, as recorded by CUPTI.
#pragma once

#include <cstdint>
#include <string_view>

namespace gpu {

enum class ActivityKind : std::uint8_t { kernel, copy, set, call };

// Times are on the recording's clock, which CUPTI calls normalised: the same for calls and kernels, but different from
// the trace's clock.
struct Activity {
    ActivityKind kind = ActivityKind::kernel;
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::uint32_t device = 0;       // device of all kinds but calls
    std::uint32_t stream = 0;       // number of the stream on the device
    std::uint32_t thread = 0;       // for calls: the system's thread id
    std::uint32_t correlation = 0;  // equal for a call and the activity that it started; 0: none
    std::uint64_t bytes = 0;        // for copies and sets
    std::string_view name{};        // name of the kernel or the call, or direction of the copy: "host to device"
};

// A simultaneous reading of both clocks. The recording's clock was read between two readings of the trace's clock that
// are twice `error_ns` apart.
struct ClockPair {
    std::int64_t recorded_ns = 0;
    std::int64_t trace_ns = 0;
    std::int64_t error_ns = 0;
};

}  // namespace gpu
