// The words of a verdict: in verdict.json, verdicts.csv, status.json, --fail-on, on the page and on the terminal.
#pragma once

#include "base/statistics.hpp"

#include <string>

namespace base::verdict_word {

inline constexpr const char* safe = "safe";            // the whole interval is below the budget
inline constexpr const char* unsafe = "unsafe";        // the whole interval is above the budget
inline constexpr const char* undecided = "undecided";  // neither
inline constexpr const char* untrusted = "untrusted";  // of a report that is not trustworthy; for --fail-on
inline constexpr const char* observed = "observed";    // of noise that nobody designed, which is not judged

}  // namespace base::verdict_word

namespace base {

// "safe" if the interval ends below the budget, "unsafe" if it begins above it, else "undecided".
std::string judge(const Interval& interval, double budget_percent);

}  // namespace base
