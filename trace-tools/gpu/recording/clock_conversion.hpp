// SPDX-License-Identifier: Apache-2.0
// From the clock of a GPU's recording to the trace's, by looks at both.
#pragma once

#include "trace-tools/gpu/recording/activity.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpu {

// Straight lines from look to look; before the first and after the last look the nearest line continues. Of two times
// the later one is never converted to an earlier one.
class ClockConversion {
 public:
    // Looks come in the order of their times. One that does not is left out, and counted: one of the clocks was set.
    void add(const ClockPair& pair);

    // Without a look the clocks are taken for one.
    std::int64_t to_trace(std::int64_t recorded_ns) const;

    // How far a conversion may be off: the widest look, and the farthest that a look lies from the line between those
    // before and after it.
    std::int64_t residual_ns() const { return widest_ns_ + farthest_ns_; }

    std::size_t left_out() const { return left_out_; }

 private:
    std::vector<ClockPair> pairs_;
    std::int64_t widest_ns_ = 0;
    std::int64_t farthest_ns_ = 0;
    std::size_t left_out_ = 0;
};

}  // namespace gpu
