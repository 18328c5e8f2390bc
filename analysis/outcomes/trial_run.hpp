// SPDX-License-Identifier: Apache-2.0
// Reads records of soft-error trials, and the accuracy of undisturbed trainings.
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

// Trials of one training, with their outcomes. Outcomes may be fewer than trials.
struct TrialRun {
    std::filesystem::path directory;
    std::string model;
    std::string strategy;
    std::vector<base::Trial> trials;
    std::vector<base::Outcome> outcomes;
    std::int64_t held_out = 0;  // number of guesses on held-out data
    double chance = 0.0;        // accuracy of blind guessing
    std::optional<double> parameters;
    int ranks = 1;
    std::string noise = {};  // schedule of the noise that ran with the training, in DIR/noise; empty: quiet
};

// Reads DIR/train/{trials.csv, outcomes.csv, run.json}, and the first DIR/noise/*/noise.json, if there is one. Throws
// Error.
TrialRun read_trial_run(const std::filesystem::path& directory);

// Accuracies of undisturbed trainings with other seeds, and the band that they define.
struct Band {
    std::vector<double> accuracies;
    double low = 0.0;  // lower end of the band: one in forty undisturbed trainings is expected below it
};

using Bands = std::map<std::pair<std::string, std::int64_t>, Band>;  // by model and final number of steps

// Reads directories of trainings without --trials. Throws Error for a training that has not finished.
Bands read_bands(const std::vector<std::filesystem::path>& directories);

// Lower end of the prediction interval of one more value, for a normal distribution.
double lower_end(const std::vector<double>& accuracies);

constexpr std::size_t least_seeds = 8;

}  // namespace analysis
