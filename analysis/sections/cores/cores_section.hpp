// SPDX-License-Identifier: Apache-2.0
// Sentences and a plot about the number of cores that the job needs.
#pragma once

#include "analysis/sections/section.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace analysis {

// Draws cores.svg from cores_points.csv, a panel for each curve.
Plot draw_cores(const std::filesystem::path& folder, const Report& report);

// The number and its settings. Empty without noise that takes cores from the job.
std::vector<std::string> cores_sentences(const Report& report);

}  // namespace analysis
