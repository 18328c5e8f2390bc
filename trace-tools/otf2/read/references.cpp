// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/otf2/read/references.hpp"

#include <cmath>

namespace otf2 {

// A double has 53 bits: exact to 1 ns up to 104 days after the first time stamp.
std::int64_t ReferenceTable::duration_ns(std::int64_t ticks) const
{
    if (ticks_per_s == 1'000'000'000) return ticks;
    const double ns = static_cast<double>(ticks) * (1e9 / static_cast<double>(ticks_per_s));
    constexpr double largest = 9.2e18;
    return std::llround(ns < -largest ? -largest : ns > largest ? largest : ns);
}

}  // namespace otf2
