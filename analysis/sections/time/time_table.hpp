// SPDX-License-Identifier: Apache-2.0
// Accounts for the training's time between the first and the last slot: used, or left out for a reason.
#pragma once

#include "analysis/estimate/analyse.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace analysis {

struct TimeRow {
    int rank = 0;
    std::string treatment;   // treatment of the slot in which the step begins; empty: no slot
    std::string reason;      // "used", the reason for leaving it out, or "ranks incomplete"
    std::int64_t steps = 0;  // an outlier is counted in the row of its excess; its ordinary part is in "used"
    std::int64_t ns = 0;
};

// Rows by rank, treatment and reason. Each nanosecond of a rank is in exactly one row, from the start of its first
// slot, or of its first step if that is later, to the end of the last step that begins in a slot.
std::vector<TimeRow> time_table(const DesignedRun& run, const Analysis& analysis);

}  // namespace analysis
