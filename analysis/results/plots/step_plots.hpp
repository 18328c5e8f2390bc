// SPDX-License-Identifier: Apache-2.0
// Plots of all steps: each rank's own time over the steps, and the phases over time. Long runs are binned, so
// that tables and drawings stay small.
#pragma once

#include "analysis/input/steps.hpp"
#include "analysis/results/plots/palette.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace analysis {

// The steps of one run, or of a part of one.
struct StepsOfRun {
    std::string name;  // "run-2"; empty where there is one only
    const StepTable* steps = nullptr;
};

// heat_map.svg from heat_map.csv: rank x step, how far each step's own time (without waiting for gradients, and without
// controls) lies above the median of its rank in that run. Of several runs the table names each in a column `run`.
Plot draw_heat_map(const std::filesystem::path& folder, const std::vector<StepsOfRun>& runs);

// phases_over_time.svg from phases_over_time.csv: phases stacked, mean over ranks and over the steps of a bin.
// With several runs each has a panel, the first twelve of them; the table names each in a column `run`.
Plot draw_phases_over_time(const std::filesystem::path& folder, const std::vector<StepsOfRun>& runs);

// To the left of a drawing, in its pixels, for the longest of these names.
int room_for(const std::vector<std::string>& names);

}  // namespace analysis
