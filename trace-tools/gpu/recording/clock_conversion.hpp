// SPDX-License-Identifier: Apache-2.0
// Converts times of a GPU recording's clock to the trace's clock, using simultaneous readings of both.
#pragma once

#include "trace-tools/gpu/recording/activity.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpu {

// Interpolates linearly between readings, and extrapolates the first and the last line. The conversion is monotone.
class ClockConversion {
 public:
    // Readings must come in time order. One that does not (a clock was set) is ignored and counted.
    void add(const ClockPair& pair);

    // Without any reading, the clocks are assumed to be equal.
    std::int64_t to_trace(std::int64_t recorded_ns) const;

    // Bound on the error of a conversion: the widest reading, plus the largest distance of a reading from the line
    // between its neighbours.
    std::int64_t residual_ns() const { return widest_ns_ + farthest_ns_; }

    std::size_t left_out() const { return left_out_; }

 private:
    std::vector<ClockPair> pairs_;
    std::int64_t widest_ns_ = 0;
    std::int64_t farthest_ns_ = 0;
    std::size_t left_out_ = 0;
};

}  // namespace gpu
