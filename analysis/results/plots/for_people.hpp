// A drawing of gnuplot's as people read it.
#pragma once

#include "analysis/results/plots/plots.hpp"

#include <filesystem>

namespace analysis {

// Gives the SVG the plot's title and caption in the place of gnuplot's code, and makes gnuplot's "labels hypertext"
// what browsers show where the pointer is, without a script. Returns the plot.
Plot for_people(const std::filesystem::path& folder, Plot plot);

}  // namespace analysis
