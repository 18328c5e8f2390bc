// SVG plots through gnuplot; the script and its data stay beside each.
#pragma once

#include "analysis/estimate/sets/comparison.hpp"
#include "analysis/results/report.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace analysis {

struct Plot {
    std::string name;  // "timeline": timeline.gp makes timeline.svg from its data
    std::string title;
    std::string caption;                 // how to read it
    bool drawn = false;                  // false: gnuplot is missing or failed
    int paper_mm = 80;                   // greatest height on paper; 0: only on screen
    std::vector<std::string> data = {};  // "timeline_steps.csv"
};

// effects (each factor's effect on the step), phases (on each phase).
std::vector<Plot> draw_effects_and_phases(const std::filesystem::path& folder, const Report& report);

// timeline (step time over time, noise behind it), heat_map, phases_over_time.
std::vector<Plot> draw_steps(const std::filesystem::path& folder, const Report& report);

// Of compared runs: effects (on the step and on each phase), aligned (steps by number, from aligned_steps.csv).
std::vector<Plot> draw_comparison(const std::filesystem::path& folder, const Comparison& comparison,
                                  double budget_percent);

}  // namespace analysis
