// SPDX-License-Identifier: Apache-2.0
// Writes predictions: on the terminal, as CSV and as a page.
#pragma once

#include "analysis/predict/neighbour.hpp"
#include "analysis/predict/projected.hpp"

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

namespace analysis {

struct NeighbourPrediction {
    std::string directory;  // directory of the run, as the user gave it
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

// Rows of the table as text, the header first.
using PredictionLines = std::vector<std::vector<std::string>>;
PredictionLines lines_of(const NeighbourPrediction& prediction);
PredictionLines lines_of(const Projection& projection);

void print(std::ostream& out, const NeighbourPrediction& prediction);
void print(std::ostream& out, const Projection& projection);

// Writes the page with a plot and its data: index.html, prediction.csv, effects.svg, .gp and effects_step.csv. The
// folder appears only when complete; throws UsageError if it exists.
void write_page(const std::filesystem::path& folder, const NeighbourPrediction& prediction);
void write_page(const std::filesystem::path& folder, const Projection& projection);

// Columns: stressor,unit,pressure,pressure_low,pressure_high,slowdown_percent,low_percent,high_percent,measured_to. The
// last row is `together`. An empty cell is outside the measured range.
void write_csv(const std::filesystem::path& file, const NeighbourPrediction& prediction);

// Columns: treatment,ranks,ranks_per_node,step_ms,step_low_ms,step_high_ms,slowdown_percent,low_percent,high_percent,
// amplification,own_ms,slack_ms,absorbed_percent,tail_shape,beyond_data
void write_csv(const std::filesystem::path& file, const Projection& projection);

}  // namespace analysis
