// SPDX-License-Identifier: Apache-2.0
// How many cores the job needs: the number, the settings for it, the curve, and what a neighbour gets from the others.
#pragma once

#include "analysis/sections/cores/cores.hpp"
#include "analysis/sections/section.hpp"

#include <filesystem>

namespace analysis {

// Draws cores.svg from cores_points.csv, a panel for each curve.
Plot draw_cores(const std::filesystem::path& folder, const Report& report);

}  // namespace analysis
