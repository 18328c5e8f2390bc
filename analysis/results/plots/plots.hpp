// SPDX-License-Identifier: Apache-2.0
// Draws SVG plots with gnuplot; script and data are kept next to each plot.
#pragma once

#include "analysis/estimate/sets/comparison.hpp"
#include "analysis/results/plots/palette.hpp"
#include "analysis/results/report.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace analysis {

// Draws effects.svg: each factor's effect on the step, for one run or several pooled runs.
Plot draw_effects(const std::filesystem::path& folder, const Report& report);

// Draws effects.svg (each factor's effect on the step) and phases.svg (its effect on each phase).
std::vector<Plot> draw_effects_and_phases(const std::filesystem::path& folder, const Report& report);

// Draws timeline.svg (step time over time, with the noise in the background), heat_map.svg and phases_over_time.svg.
std::vector<Plot> draw_steps(const std::filesystem::path& folder, const Report& report);

// Draws, for compared runs, effects.svg (on the step and on each phase) and aligned.svg (steps by number, from
// aligned_steps.csv).
std::vector<Plot> draw_comparison(const std::filesystem::path& folder, const Comparison& comparison,
                                  double budget_percent);

}  // namespace analysis
