// Makes a plan's trials on this machine, and what they are compared with; then has them classed.
#pragma once

#include "base/contract/trials.hpp"

#include <filesystem>

namespace crosstalk {

// Is that the directory of planned trials?
bool is_trial_directory(const std::filesystem::path& directory);

// DIR/seed-*, undisturbed trainings with other seeds; DIR/<strategy> with all trials. A training that a trial ends is
// started again, and goes on after it; so does the whole. Returns an exit code: 3 if it was stopped, or a training ends
// without a new row.
int run_trials(const std::filesystem::path& directory);

// interference outcomes of all that is there, into DIR/report, in the place of an earlier one. Its exit code.
int collect_trials(const std::filesystem::path& directory);

}  // namespace crosstalk
