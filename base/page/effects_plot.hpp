// SPDX-License-Identifier: Apache-2.0
// The main plot of a page: effects with their intervals, and the budget.
#pragma once

#include "base/page/plot.hpp"
#include "base/statistics.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace base::page {

struct EffectRow {
    std::string name;
    double percent = 0.0;
    std::optional<Interval> interval{};
    std::optional<double> truth{};  // true effect of a control
    std::string colour;             // "#0072b2"
};

struct EffectsPlot {
    std::string caption;
    std::vector<EffectRow> rows{};
    std::optional<double> budget_percent{};
    std::string axis = "slowdown of the step, percent of the mean quiet step";
};

// Writes effects.svg, effects.gp and effects_step.csv into the folder. Throws std::system_error; if gnuplot fails,
// there is no plot.
Plot draw_effects(const std::string& program, const std::filesystem::path& folder, const EffectsPlot& effects);

}  // namespace base::page
