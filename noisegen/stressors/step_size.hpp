// SPDX-License-Identifier: Apache-2.0
// Size of a step: at most about a millisecond of work, and less at a low rate, so that the work is spread evenly.
#pragma once

#include <algorithm>
#include <cstddef>

namespace noisegen {

// The amount due in a thousandth of a second, within `smallest` and `largest`; `largest` without a rate (0).
inline std::size_t step_size(double rate_per_s, std::size_t smallest, std::size_t largest)
{
    if (rate_per_s <= 0.0) return largest;
    return static_cast<std::size_t>(
        std::clamp(rate_per_s / 1000.0, static_cast<double>(smallest), static_cast<double>(largest)));
}

}  // namespace noisegen
