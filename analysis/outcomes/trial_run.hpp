// SPDX-License-Identifier: Apache-2.0
// Records of trials of soft errors, and the accuracy of an undisturbed training.
#pragma once

#include "base/contract/trials.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace analysis {

// Trials of one training, with their outcomes, which may be fewer.
struct TrialRun {
    std::filesystem::path directory;
    std::string model;
    std::string strategy;
    std::vector<base::Trial> trials;
    std::vector<base::Outcome> outcomes;
    std::int64_t held_out = 0;  // answers guessed
    double chance = 0.0;        // accuracy of guessing blindly
    std::optional<double> parameters;
    int ranks = 1;
    std::string noise = {};  // the schedule of what noisegen did beside it, in DIR/noise; empty: quiet
};

// DIR/train/{trials.csv, outcomes.csv, run.json}, and the first DIR/noise/*/noise.json, if there is one. Throws Error.
TrialRun read_trial_run(const std::filesystem::path& directory);

// Accuracies of undisturbed trainings with other seeds, and what they allow.
struct Band {
    std::vector<double> accuracies;
    double low = 0.0;  // below it no more than one undisturbed training in forty is expected
};

using Bands = std::map<std::pair<std::string, std::int64_t>, Band>;  // by model, and the number of steps in the end

// Each directory is that of a training without --trials. Throws Error for one that has not ended.
Bands read_bands(const std::vector<std::filesystem::path>& directories);

// Prediction interval of one more normal value, its lower end.
double lower_end(const std::vector<double>& accuracies);

constexpr std::size_t least_seeds = 8;

}  // namespace analysis
