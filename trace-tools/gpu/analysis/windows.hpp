// The steps within which GPUs are looked at.
#pragma once

#include "trace-tools/otf2/archive.hpp"
#include "trace-tools/steps/chosen_steps.hpp"

#include <filesystem>
#include <vector>

namespace gpu {

// Those that were chosen, or are found; on the archive's common clock, whatever its nodes' clocks. Empty if nothing
// repeats. Reads the archive's events, on a reader of its own.
std::vector<otf2::StepsOfRank> steps_on_common_clock(const std::filesystem::path& anchor,
                                                     const otf2::StepChoice& choice);

}  // namespace gpu
