// SPDX-License-Identifier: Apache-2.0
// Runs a plan's trials on this machine, and the trainings that they are compared with; then has the outcomes
// classified.
#pragma once

#include "base/contract/trials.hpp"

#include <cstddef>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <string>

namespace crosstalk {

// Runs undisturbed trainings with other seeds in DIR/seed-*, and all trials in DIR/<strategy>. A training that a trial
// has ended is restarted after that trial; an interrupted call continues likewise. Returns an exit code: 3 if it was
// stopped, or if a training ended without a new row.
int run_trials(const std::filesystem::path& directory);

// Writes DIR/report by `interference outcomes`, replacing an earlier report. Returns the exit code.
int collect_trials(const std::filesystem::path& directory);

// Progress of the trials.
struct TrialStanding {
    int seeds = 0;  // number of undisturbed trainings
    int seeds_done = 0;
    std::size_t trials = 0;                   // number for each strategy
    std::map<std::string, std::size_t> done;  // number of ended trials by strategy
    double seconds_left = 0.0;                // estimate from past trials, or from the spec
    bool is_being_run = false;
};
TrialStanding trial_standing(const std::filesystem::path& directory);

// Prints the progress, for `campaign status`.
void print(std::ostream& out, const TrialStanding& standing);
void print_json(std::ostream& out, const TrialStanding& standing);

}  // namespace crosstalk
