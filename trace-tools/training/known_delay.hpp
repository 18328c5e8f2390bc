// SPDX-License-Identifier: Apache-2.0
// The controlled part of a step: rest, known delay or none, rest, between barriers of all ranks.
#pragma once

#include "base/contract/control_file.hpp"
#include "trace-tools/training/phase_clock.hpp"

#include <cstdint>
#include <functional>

namespace training {

// Rank 0 rests and makes the delay (phase control_delay); all else is phase control_settle. barrier: waits for all
// ranks, false if one of them does not come. Returns whether all came. Does nothing if nothing is requested.
bool make_known_delay(base::ControlRequest request, std::int64_t delay_ns, int rank, PhaseClock& clock,
                      const std::function<bool()>& barrier);

}  // namespace training
