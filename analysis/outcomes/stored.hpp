// SPDX-License-Identifier: Apache-2.0
// Trials with weights stored in memory whose bits flip: accuracy by code, detection and rate of flips.
#pragma once

#include "analysis/outcomes/tables.hpp"
#include "analysis/results/plots/plots.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace analysis {

// A point of a curve: the mean of equal trials of kind stored.
struct StoredPoint {
    std::string model;
    std::string strategy;
    std::string store;
    std::string detect;
    std::string reads;
    std::int64_t step = 0;
    std::int64_t steps = 0;  // number of training steps; 0: inference
    double rate = 0.0;       // probability that a bit flips in a read
    std::int64_t trials = 0;
    double accuracy = 0.0;         // mean, 0 to 1; a crashed trial counts as 0
    base::Interval interval = {};  // 95 %, Student's t, within 0 and 1; the whole range for a single trial
    std::int64_t ruined = 0;       // number of trials
    base::Interval ruined_percent = {};
    double flipped = 0.0;   // number of bits, mean
    double detected = 0.0;  // number of weights, mean
};

// The points curve by curve, each curve by rising rate.
std::vector<StoredPoint> stored_points(const OutcomeReport& report);

// Writes stored.csv, a row for each point. Throws std::system_error.
void write_stored(const std::filesystem::path& file, const std::vector<StoredPoint>& points);

// Draws stored.svg from the folder's stored.csv, which holds these points: a curve of accuracy over rate for each code,
// a panel for each combination of model, strategy, moment, reads and detection.
Plot draw_stored(const std::filesystem::path& folder, const std::vector<StoredPoint>& points);

}  // namespace analysis
