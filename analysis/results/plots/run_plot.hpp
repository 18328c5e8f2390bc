// SPDX-License-Identifier: Apache-2.0
// Draws the effects of each run, with the pooled effect above them.
#pragma once

#include "analysis/results/plots/plots.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace analysis {

struct RunOnPlot {
    std::string name;
    std::string factor;  // determines the colour
    double percent = 0.0;
    Interval interval;
    bool of_all = false;
};

// Draws runs.svg from runs_plot.csv.
Plot draw_runs(const std::filesystem::path& folder, const Report& report, const std::vector<RunOnPlot>& rows);

}  // namespace analysis
