// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/otf2/clock_offset.hpp"

#include <cmath>
#include <cstddef>

namespace otf2 {

std::int64_t on_common_clock(std::int64_t own_ns, const std::vector<ClockOffset>& offsets)
{
    if (offsets.empty()) return own_ns;
    std::size_t next = 1;
    while (next + 1 < offsets.size() && own_ns > offsets[next].at_ns) ++next;
    const ClockOffset& from = offsets[next - 1];
    if (next == offsets.size() || offsets[next].at_ns == from.at_ns) return own_ns + from.offset_ns;
    const ClockOffset& to = offsets[next];
    const double way = static_cast<double>(own_ns - from.at_ns) / static_cast<double>(to.at_ns - from.at_ns);
    return own_ns + from.offset_ns + std::llround(way * static_cast<double>(to.offset_ns - from.offset_ns));
}

}  // namespace otf2
