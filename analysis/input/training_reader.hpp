// SPDX-License-Identifier: Apache-2.0
// Reads a training from the archive of any recorder, or from a table.
#pragma once

#include "analysis/input/training.hpp"

#include <filesystem>

namespace analysis {

// Reads an archive or a table (steps.csv). Without a choice an archive's steps are its regions `step` with a recorded
// number; else those of `unless_numbered`, if the archive has that region; else those that otf2::chosen_steps() finds.
// Throws Error for a file that is missing or unsound, and for one without steps that all ranks completed; UsageError
// for a choice where the file is a table.
Training read_training(const std::filesystem::path& file, const otf2::StepChoice& choice = {},
                       const otf2::StepChoice& unless_numbered = {});

}  // namespace analysis
