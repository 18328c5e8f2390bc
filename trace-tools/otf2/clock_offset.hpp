// SPDX-License-Identifier: Apache-2.0
// Difference between the clock of a location and the archive's clock, which is rank 0's.
#pragma once

#include <cstdint>
#include <vector>

namespace otf2 {

// Offset to add to a time stamp of the location's clock near at_ns to get the archive's time.
struct ClockOffset {
    std::int64_t at_ns = 0;
    std::int64_t offset_ns = 0;
    std::int64_t error_ns = 0;  // upper bound of the error; 0 if both clocks are the same, or if the error is unknown
};

// Converts a time stamp to the archive's time. Offsets are interpolated linearly between the measurements (in time
// order), and extrapolated along the first and last segment, as OTF2's own reader does.
std::int64_t on_common_clock(std::int64_t own_ns, const std::vector<ClockOffset>& offsets);

}  // namespace otf2
