// SPDX-License-Identifier: Apache-2.0
// The steps within which GPUs are looked at.
#pragma once

#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/steps/chosen_steps.hpp"

#include <vector>

namespace gpu {

// Those that were chosen, or are found; on the archive's common clock, whatever its nodes' clocks. Empty if nothing
// repeats. Reads the archive's events once.
std::vector<otf2::StepsOfRank> steps_on_common_clock(otf2::Reader& reader, const otf2::StepChoice& choice);

}  // namespace gpu
