// SPDX-License-Identifier: Apache-2.0
// The controlled part of a step, between barriers of all ranks: a rest, the known delay or none, another rest.
#pragma once

#include "base/contract/control_file.hpp"
#include "trace-tools/training/phase_clock.hpp"

#include <cstdint>
#include <functional>

namespace training {

// Called by all ranks. Between barriers, rank 0 sleeps for control_rest_ns, for delay_ns (not for a sham) and again for
// control_rest_after_ns. The delay is phase control_delay, all else is phase control_settle. `barrier` waits for all
// ranks and returns false if one does not arrive. Returns whether all arrived. Without a request, does nothing and
// returns true.
bool make_known_delay(base::ControlRequest request, std::int64_t delay_ns, int rank, PhaseClock& clock,
                      const std::function<bool()>& barrier);

}  // namespace training
