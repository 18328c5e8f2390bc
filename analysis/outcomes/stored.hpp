// SPDX-License-Identifier: Apache-2.0
// Weights stored in memory whose bits flip: accuracy by code, detection and rate.
#pragma once

#include "analysis/outcomes/tables.hpp"
#include "analysis/results/plots/plots.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace analysis {

// A point of a curve: equal trials of kind stored.
struct StoredPoint {
    std::string model;
    std::string strategy;
    std::string store;
    std::string detect;
    std::string reads;
    std::int64_t step = 0;
    std::int64_t steps = 0;  // trained on; 0: inference
    double rate = 0.0;       // that a bit flips in a read
    std::int64_t trials = 0;
    double accuracy = 0.0;         // mean, 0 to 1; of a trial that crashed 0
    base::Interval interval = {};  // 95 %, Student's t, within 0 and 1; of one trial all of it
    std::int64_t ruined = 0;       // trials
    base::Interval ruined_percent = {};
    double flipped = 0.0;   // bits, mean
    double detected = 0.0;  // weights, mean
};

// Curve by curve, with rates in order.
std::vector<StoredPoint> stored_points(const OutcomeReport& report);

// stored.csv: a row for each. Throws std::system_error.
void write_stored(const std::filesystem::path& file, const std::vector<StoredPoint>& points);

// stored.svg from the stored.csv of these points there: a curve of accuracy over rate for each code, a panel for each
// model, strategy, moment, reads and detection.
Plot draw_stored(const std::filesystem::path& folder, const std::vector<StoredPoint>& points);

}  // namespace analysis
