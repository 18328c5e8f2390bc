// SPDX-License-Identifier: Apache-2.0
// Makes a plan's trials on this machine, and what they are compared with; then has them classed.
#pragma once

#include "base/contract/trials.hpp"

#include <cstddef>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <string>

namespace crosstalk {

// DIR/seed-*, undisturbed trainings with other seeds; DIR/<strategy> with all trials. A training that a trial ends is
// started again, and continues after it; so does the whole. Returns an exit code: 3 if it was stopped, or a training
// ends without a new row.
int run_trials(const std::filesystem::path& directory);

// Writes DIR/report by `interference outcomes`, in the place of an earlier one. Returns the exit code.
int collect_trials(const std::filesystem::path& directory);

// How far it is.
struct TrialStanding {
    int seeds = 0;  // undisturbed trainings
    int seeds_done = 0;
    std::size_t trials = 0;                   // of each strategy
    std::map<std::string, std::size_t> done;  // by strategy
    double seconds_left = 0.0;                // of trials, as long as they took so far, or were expected to take
    bool is_being_run = false;
};
TrialStanding trial_standing(const std::filesystem::path& directory);

// For `campaign status`.
void print(std::ostream& out, const TrialStanding& standing);
void print_json(std::ostream& out, const TrialStanding& standing);

}  // namespace crosstalk
