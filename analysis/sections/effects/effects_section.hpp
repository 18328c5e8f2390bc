// SPDX-License-Identifier: Apache-2.0
// Effects of each noise on the step, its phases, its split by buckets, and each rank.
#pragma once

#include "analysis/sections/section.hpp"

namespace analysis {

// A row for each noise: its effect on the step and on each phase, over all ranks.
NoiseTable effects_by_phase(const Report& report);

}  // namespace analysis
