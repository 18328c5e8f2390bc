// SPDX-License-Identifier: Apache-2.0
// How much a step does: about a millisecond at most, and less at a low rate, so that it comes evenly.
#pragma once

#include <algorithm>
#include <cstddef>

namespace noisegen {

// A thousandth of a second's rate, but not less than is worth a step; `largest` if no rate was asked for (0).
inline std::size_t step_size(double rate_per_s, std::size_t smallest, std::size_t largest)
{
    if (rate_per_s <= 0.0) return largest;
    return static_cast<std::size_t>(
        std::clamp(rate_per_s / 1000.0, static_cast<double>(smallest), static_cast<double>(largest)));
}

}  // namespace noisegen
