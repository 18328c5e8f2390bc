// SPDX-License-Identifier: Apache-2.0
// The words of a verdict: in verdict.json, verdicts.csv, status.json, --fail-on, on the page and on the terminal.
#pragma once

#include "base/statistics.hpp"

#include <string>
#include <vector>

namespace base::verdict_word {

inline constexpr const char* safe = "safe";                // the whole interval is below the budget
inline constexpr const char* unsafe = "unsafe";            // the whole interval is above the budget
inline constexpr const char* undecided = "undecided";      // neither, though the run could have seen such an effect
inline constexpr const char* insensitive = "insensitive";  // the run could not have seen an effect of the budget
inline constexpr const char* untrusted = "untrusted";      // what would be safe, were the report trustworthy
inline constexpr const char* observed = "observed";        // of noise that nobody designed, which is not judged

// The words of --fail-on; undecided there means insensitive as well.
inline const std::vector<std::string> failing{unsafe, undecided, insensitive, untrusted};

}  // namespace base::verdict_word

namespace base {

// "safe" if the interval ends below the budget, "unsafe" if it begins above it, else "undecided".
std::string judge(const Interval& interval, double budget_percent);

}  // namespace base
