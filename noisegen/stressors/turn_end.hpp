// SPDX-License-Identifier: Apache-2.0
// Times of a stressor that waits for other processes: of its steps, and of what is under way when a turn ends.
#pragma once

#include "base/system/clock.hpp"
#include "noisegen/stressors/stressor.hpp"

#include <algorithm>

namespace noisegen {

// For a stressor that waits for other processes: how long a step works, and how long it sleeps where nothing came.
constexpr std::int64_t exchange_step_ns = 1'000'000;
constexpr std::int64_t exchange_nap_ns = 50'000;

// A tenth of the turn that begins now, so that the next one is hardly late; 1 to 50 ms.
inline std::int64_t patience_ns(const Turn& turn)
{
    constexpr std::int64_t least = 1'000'000;
    constexpr std::int64_t most = 50'000'000;
    if (turn.deadline_ns == 0) return most;
    return std::clamp((turn.deadline_ns - base::now_ns()) / 10, least, most);
}

}  // namespace noisegen
