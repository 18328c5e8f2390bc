// SPDX-License-Identifier: Apache-2.0
// Checks, before noise begins, whether interference can analyse a run of the schedule.
#pragma once

#include "noisegen/schedule/slot_table.hpp"

#include <string>
#include <vector>

namespace noisegen {

// The reason why interference could not report on a run with this table, and what to use instead; empty if it could. A
// report needs quiet slots, a treatment, and two blocks that contain every treatment. For a sequence, random slots or a
// ramp, a block ends when all treatments have occurred since its start.
std::string why_no_report(const Schedule& schedule, const std::vector<Slot>& table);

// Does the schedule have one treatment all the time? `interference analyse` cannot use such a run; `interference
// compare` can, as one of a set.
bool is_constant(const Schedule& schedule);

// The missing controls, without which no report is trusted; empty if none is missing.
std::string missing_controls(const Schedule& schedule);

}  // namespace noisegen
