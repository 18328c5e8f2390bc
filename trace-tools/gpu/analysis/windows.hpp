// SPDX-License-Identifier: Apache-2.0
// The steps for which GPU times are computed.
#pragma once

#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/steps/chosen_steps.hpp"

#include <vector>

namespace gpu {

// Returns the chosen or detected steps on the archive's common clock, whatever the nodes' clocks. Empty if nothing
// repeats. Reads the archive's events once.
std::vector<otf2::StepsOfRank> steps_on_common_clock(otf2::Reader& reader, const otf2::StepChoice& choice);

}  // namespace gpu
