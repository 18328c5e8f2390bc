// SPDX-License-Identifier: Apache-2.0
// How the clock of a location differs from the archive's, which is rank 0's.
#pragma once

#include <cstdint>
#include <vector>

namespace otf2 {

// Added to a time stamp of the location's clock near at_ns it gives the archive's time.
struct ClockOffset {
    std::int64_t at_ns = 0;
    std::int64_t offset_ns = 0;
    std::int64_t error_ns = 0;  // it is off by no more; 0 where both clocks are the same, or where nobody says
};

// The archive's time. Offsets lie on straight lines through those measured (in the order of their times), and before
// the first and after the last of them on the nearest line, as OTF2's own reader takes them.
std::int64_t on_common_clock(std::int64_t own_ns, const std::vector<ClockOffset>& offsets);

}  // namespace otf2
