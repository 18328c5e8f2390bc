// SPDX-License-Identifier: Apache-2.0
// Plots drawn by gnuplot. Script and data are kept next to each SVG, so that it can be drawn again.
#pragma once

#include "base/units.hpp"

#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace base {

// Runs `gnuplot <name>.gp` in the folder; the script must write <name>.svg. If gnuplot fails, or takes longer than
// `patience` and is killed, the function says so on stderr as `program`, removes the SVG and returns false.
bool run_gnuplot(const std::string& program, const std::filesystem::path& folder, const std::string& name,
                 Nanoseconds patience = std::chrono::minutes{1});

// Variables of a gnuplot script, written as assignments in front of it.
class GnuplotVariables {
 public:
    template <class Number>
    requires std::is_arithmetic_v<Number>
    void set(const std::string& name, Number value) { text_ << name << " = " << value << "\n"; }
    // Arrays count from 1. gnuplot has no empty arrays: an empty vector becomes an array of one undefined value.
    void set(const std::string& name, const std::vector<double>& values);
    void set(const std::string& name, const std::vector<std::string>& texts);
    std::string text() const { return text_.str(); }

 private:
    std::ostringstream text_;
};

// Writes <name>.gp (the variables' assignments and the script) and runs it.
bool draw(const std::string& program, const std::filesystem::path& folder, const std::string& name,
          const GnuplotVariables& variables, std::string_view script);

// Text for a tic label, which gnuplot reads as a printf format: percent signs are escaped.
std::string gnuplot_tic(const std::string& text);

}  // namespace base
