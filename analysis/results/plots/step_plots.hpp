// SPDX-License-Identifier: Apache-2.0
// Plots of all steps: each rank's own time by step, and the phases over time. Long runs are binned, so that tables and
// drawings stay small.
#pragma once

#include "analysis/input/steps.hpp"
#include "analysis/results/plots/palette.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace analysis {

// The steps of one run, or of a part of one.
struct StepsOfRun {
    std::string name;  // "run-2"; empty for a single run
    const StepTable* steps = nullptr;
};

// Draws heat_map.svg from heat_map.csv: for each rank and step, how far the step's own time (without waiting for
// gradients and without controls) lies above the median of its rank in that run. With several runs, column `run` of the
// table names the run.
Plot draw_heat_map(const std::filesystem::path& folder, const std::vector<StepsOfRun>& runs);

// Draws phases_over_time.svg from phases_over_time.csv: stacked phases, mean over ranks and over the steps of a bin.
// With several runs, each of the first twelve has a panel, and column `run` of the table names the run.
Plot draw_phases_over_time(const std::filesystem::path& folder, const std::vector<StepsOfRun>& runs);

// Width of the left margin of a drawing, in pixels, for the longest of these names.
int room_for(const std::vector<std::string>& names);

}  // namespace analysis
