// One line on a run that still goes on.
#pragma once

#include "analysis/cli/settings.hpp"
#include "analysis/input/run_so_far.hpp"

#include <string>

namespace analysis {

// "60 s, 540 steps: memory.stream +10.2 % ± 4.1 (budget 1 %)"; without two complete blocks it says that there is no
// interval yet. Times are those since the first step. The estimate is that of the report, of what there is.
std::string so_far_line(const RunSoFar& run, const Settings& settings);

}  // namespace analysis
