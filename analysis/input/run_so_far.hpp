// SPDX-License-Identifier: Apache-2.0
// Reads a designed run in progress from the CSV files to which the training and the noise append.
#pragma once

#include "analysis/input/designed_run.hpp"

#include <filesystem>

namespace analysis {

// Rank 0's steps, with the phases of controls only, and the finished slots of a noise process on its host. Both are
// empty when a run begins. Throws Error for invalid files.
struct RunSoFar {
    StepTable steps;
    std::vector<Slot> slots;
    std::vector<TimeSpan> stopped;  // spans in which control.pause stopped processes
    Design design = Design::sequence;
};
RunSoFar read_so_far(const std::filesystem::path& directory);

}  // namespace analysis
