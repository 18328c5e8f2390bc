// Plots through gnuplot: a script and its data stay beside each SVG, so that it can be drawn again.
#pragma once

#include "base/units.hpp"

#include <filesystem>
#include <string>

namespace base {

// Runs `gnuplot <name>.gp` in the folder, which is to make <name>.svg. False, and says so on stderr as `program`, if it
// cannot, or if gnuplot takes longer than `patience`: then it is killed. What it had drawn by then is removed.
bool run_gnuplot(const std::string& program, const std::filesystem::path& folder, const std::string& name,
                 Nanoseconds patience = std::chrono::minutes{1});

// For a label or title in a script: quotes and gnuplot's own markup taken as plain text.
std::string gnuplot_text(const std::string& text);

// For a label of a tic, which gnuplot takes as a printf format: percent signs stay percent signs.
std::string gnuplot_tic(const std::string& text);

}  // namespace base
