// SPDX-License-Identifier: Apache-2.0
// A designed run in progress, from what training and noise append to their CSVs as it happens.
#pragma once

#include "analysis/input/designed_run.hpp"

#include <filesystem>

namespace analysis {

// Rank 0's steps, with the phases of controls only, and the finished slots of a noise process on its host. Both are
// empty at first. Throws Error for invalid files.
struct RunSoFar {
    StepTable steps;
    std::vector<Slot> slots;
    std::vector<TimeSpan> stopped;  // by control.pause
    Design design = Design::sequence;
};
RunSoFar read_so_far(const std::filesystem::path& directory);

}  // namespace analysis
