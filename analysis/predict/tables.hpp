// SPDX-License-Identifier: Apache-2.0
// Predictions, on the terminal and as CSV.
#pragma once

#include "analysis/predict/neighbour.hpp"
#include "analysis/predict/projected.hpp"

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

namespace analysis {

struct NeighbourPrediction {
    std::string directory;  // of the run, as the user named it
    Neighbour neighbour;
    MeasuredCurves measured;
    std::vector<PredictedPart> parts;
    std::vector<std::string> notes;
};

struct Projection {
    std::string directory;
    MeasuredTimes measured;
    int ranks_per_node = 1;
    std::vector<ProjectedRow> rows;
};

void print(std::ostream& out, const NeighbourPrediction& prediction);
void print(std::ostream& out, const Projection& projection);

// stressor,unit,pressure,pressure_low,pressure_high,slowdown_percent,low_percent,high_percent,measured_to; the last row
// is `together`. An empty cell is outside the measured range.
void write_csv(const std::filesystem::path& file, const NeighbourPrediction& prediction);

// treatment,ranks,ranks_per_node,step_ms,step_low_ms,step_high_ms,slowdown_percent,low_percent,high_percent,
// amplification,own_ms,slack_ms,absorbed_percent,tail_shape,beyond_data
void write_csv(const std::filesystem::path& file, const Projection& projection);

}  // namespace analysis
