// SPDX-License-Identifier: Apache-2.0
// Durations for stressors that wait for other processes: of a step, and of the wait for work in flight at the end of a
// turn.
#pragma once

#include "base/system/clock.hpp"
#include "noisegen/stressors/stressor.hpp"

#include <algorithm>

namespace noisegen {

// Maximum work time of a step, and sleep time when nothing arrived.
constexpr std::int64_t exchange_step_ns = 1'000'000;
constexpr std::int64_t exchange_nap_ns = 50'000;

// A tenth of the turn that is about to begin, so that the next turn is hardly late; 1 to 50 ms.
inline std::int64_t patience_ns(const Turn& turn)
{
    constexpr std::int64_t least = 1'000'000;
    constexpr std::int64_t most = 50'000'000;
    if (turn.deadline_ns == 0) return most;
    return std::clamp((turn.deadline_ns - base::now_ns()) / 10, least, most);
}

}  // namespace noisegen
