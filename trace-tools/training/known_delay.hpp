// SPDX-License-Identifier: Apache-2.0
// The controlled part of a step, between barriers of all ranks: a rest, the known delay or none, another rest.
#pragma once

#include "base/contract/control_file.hpp"
#include "trace-tools/training/phase_clock.hpp"

#include <cstdint>
#include <functional>

namespace training {

// Rank 0 rests and makes the delay (phase control_delay); everything else is phase control_settle. `barrier` waits for
// all ranks and returns false if one does not arrive. Returns whether all arrived. Does nothing without a request.
bool make_known_delay(base::ControlRequest request, std::int64_t delay_ns, int rank, PhaseClock& clock,
                      const std::function<bool()>& barrier);

}  // namespace training
