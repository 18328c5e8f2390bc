// What all steps looked like: each rank's own time over the steps, and the phases over time. Long runs are binned, so
// that tables and drawings stay small.
#pragma once

#include "analysis/report/plots/plots.hpp"

#include <filesystem>

namespace analysis {

// heat_map.svg from heat_map.csv: rank x step, how far each step's own time (without waiting for gradients, and without
// controls) lies above the median of its rank.
Plot draw_heat_map(const std::filesystem::path& folder, const Report& report);

// phases_over_time.svg from phases_over_time.csv: phases stacked, mean over ranks and over the steps of a bin.
Plot draw_phases_over_time(const std::filesystem::path& folder, const Report& report);

}  // namespace analysis
