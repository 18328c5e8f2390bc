// SPDX-License-Identifier: Apache-2.0
// Verdicts, as in verdict.json, verdicts.csv, status.json, --fail-on, on the page and on the terminal.
#pragma once

#include "base/statistics.hpp"

#include <string>
#include <vector>

namespace base::verdict_word {

inline constexpr const char* safe = "safe";                // the whole interval is below the budget
inline constexpr const char* unsafe = "unsafe";            // the whole interval is above the budget
inline constexpr const char* undecided = "undecided";      // neither; the run could have shown an effect of budget size
inline constexpr const char* insensitive = "insensitive";  // the run could not have shown an effect of budget size
inline constexpr const char* untrusted = "untrusted";      // would be safe if the report were trustworthy
inline constexpr const char* observed = "observed";        // noise that was not designed; it is not judged

// Words of --fail-on; `undecided` there includes `insensitive`.
inline const std::vector<std::string> failing{unsafe, undecided, insensitive, untrusted};

}  // namespace base::verdict_word

namespace base {

// "safe" if the interval ends below the budget, "unsafe" if it begins above it, else "undecided".
inline std::string judge(const Interval& interval, double budget_percent)
{
    if (interval.high < budget_percent) return verdict_word::safe;
    return interval.low > budget_percent ? verdict_word::unsafe : verdict_word::undecided;
}

}  // namespace base
