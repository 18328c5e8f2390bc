// SPDX-License-Identifier: Apache-2.0
// Plots through gnuplot: a script and its data stay beside each SVG, so that it can be drawn again.
#pragma once

#include "base/units.hpp"

#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace base {

// Runs `gnuplot <name>.gp` in the folder, which is to make <name>.svg. False, and says so on stderr as `program`, if it
// cannot, or if gnuplot takes longer than `patience`: then it is killed. What it had drawn by then is removed.
bool run_gnuplot(const std::string& program, const std::filesystem::path& folder, const std::string& name,
                 Nanoseconds patience = std::chrono::minutes{1});

// Variables of a gnuplot script: lines in front of it that give them their values.
class GnuplotVariables {
 public:
    template <class Number>
    requires std::is_arithmetic_v<Number>
    void set(const std::string& name, Number value) { text_ << name << " = " << value << "\n"; }
    // Arrays count from 1. gnuplot has no empty ones: an empty vector becomes an array of one undefined value.
    void set(const std::string& name, const std::vector<double>& values);
    void set(const std::string& name, const std::vector<std::string>& texts);
    std::string text() const { return text_.str(); }

 private:
    std::ostringstream text_;
};

// Writes <name>.gp, which gives the variables their values and does what the script says, and runs it.
bool draw(const std::string& program, const std::filesystem::path& folder, const std::string& name,
          const GnuplotVariables& variables, std::string_view script);

// For a label of a tic, which gnuplot takes as a printf format: percent signs stay percent signs.
std::string gnuplot_tic(const std::string& text);

}  // namespace base
