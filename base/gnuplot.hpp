// Plots through gnuplot: a script and its data stay beside each SVG, so that it can be drawn again.
#pragma once

#include <filesystem>
#include <string>

namespace base {

// Runs `gnuplot <name>.gp` in the folder, which is to make <name>.svg. False, and says so on stderr as `program`, if it
// cannot.
bool run_gnuplot(const std::string& program, const std::filesystem::path& folder, const std::string& name);

// For a label or title in a script: quotes and gnuplot's own markup taken as plain text.
std::string gnuplot_text(const std::string& text);

}  // namespace base
