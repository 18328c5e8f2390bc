// SPDX-License-Identifier: Apache-2.0
// Where the training's time went between the first and the last slot: used, or left out for a reason.
#pragma once

#include "analysis/estimate/analyse.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace analysis {

struct TimeRow {
    int rank = 0;
    std::string treatment;   // in whose slot the step begins; empty: in no slot
    std::string reason;      // "used", why it is left out, or "ranks incomplete"
    std::int64_t steps = 0;  // an outlier's ordinary part is in "used", and the step is counted with its excess
    std::int64_t ns = 0;
};

// Every nanosecond of each rank from the begin of its first slot, or of its first step if that is later, to the end of
// the last step that begins in a slot, in exactly one row. By rank, treatment and reason.
std::vector<TimeRow> time_table(const DesignedRun& run, const Analysis& analysis);

}  // namespace analysis
