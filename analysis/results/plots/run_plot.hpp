// SPDX-License-Identifier: Apache-2.0
// Effects run by run, with that of all above them.
#pragma once

#include "analysis/results/plots/plots.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace analysis {

struct RunOnPlot {
    std::string name;
    std::string factor;  // gives the colour
    double percent = 0.0;
    Interval interval;
    bool of_all = false;
};

// runs.svg from runs_plot.csv.
Plot draw_runs(const std::filesystem::path& folder, const Report& report, const std::vector<RunOnPlot>& rows);

}  // namespace analysis
