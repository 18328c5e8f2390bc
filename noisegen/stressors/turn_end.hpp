// How long what is under way when a turn ends may take to come to an end, waiting for other processes.
#pragma once

#include "base/system/clock.hpp"
#include "noisegen/stressors/stressor.hpp"

#include <algorithm>

namespace noisegen {

// A tenth of the turn that begins now, so that the next one is hardly late; 1 to 50 ms.
inline std::int64_t patience_ns(const Turn& turn)
{
    constexpr std::int64_t least = 1'000'000;
    constexpr std::int64_t most = 50'000'000;
    if (turn.deadline_ns == 0) return most;
    return std::clamp((turn.deadline_ns - base::now_ns()) / 10, least, most);
}

}  // namespace noisegen
