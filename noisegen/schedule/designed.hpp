// SPDX-License-Identifier: Apache-2.0
// Can a run be analysed? What interference needs of a schedule, looked at before noise begins.
#pragma once

#include "noisegen/schedule/slot_table.hpp"

#include <string>
#include <vector>

namespace noisegen {

// Why interference could make no report of a run with this table, and what to use instead; empty if it could. It needs
// quiet to compare with, something to measure, and two blocks that hold every treatment: of a sequence, a random order
// or a ramp a block is what lies between two moments at which all treatments have been seen.
std::string why_no_report(const Schedule& schedule, const std::vector<Slot>& table);

// One treatment all the time: no run for `interference analyse`, but one of a set for `interference compare`.
bool is_constant(const Schedule& schedule);

// Which controls are missing, without which no report is trusted; empty if none.
std::string missing_controls(const Schedule& schedule);

}  // namespace noisegen
