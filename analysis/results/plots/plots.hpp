// SPDX-License-Identifier: Apache-2.0
// SVG plots through gnuplot; the script and its data stay beside each.
#pragma once

#include "analysis/estimate/sets/comparison.hpp"
#include "analysis/results/plots/palette.hpp"
#include "analysis/results/report.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace analysis {

// effects: each factor's effect on the step, of one run or of several together.
Plot draw_effects(const std::filesystem::path& folder, const Report& report);

// effects (each factor's effect on the step), phases (on each phase).
std::vector<Plot> draw_effects_and_phases(const std::filesystem::path& folder, const Report& report);

// timeline (step time over time, noise behind it), heat_map, phases_over_time.
std::vector<Plot> draw_steps(const std::filesystem::path& folder, const Report& report);

// For compared runs: effects (on the step and on each phase), aligned (steps by number, from aligned_steps.csv).
std::vector<Plot> draw_comparison(const std::filesystem::path& folder, const Comparison& comparison,
                                  double budget_percent);

}  // namespace analysis
