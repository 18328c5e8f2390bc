// Response curves: the effect of each level, and the monotone curve through them.
#pragma once

#include "analysis/results/plots/plots.hpp"

#include <filesystem>

namespace analysis {

// response.svg from response_points.csv, a panel for each curve.
Plot draw_response(const std::filesystem::path& folder, const Report& report);

}  // namespace analysis
