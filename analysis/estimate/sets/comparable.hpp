// SPDX-License-Identifier: Apache-2.0
// Checks that runs may be compared with each other.
#pragma once

#include "analysis/input/run_steps.hpp"

#include <vector>

namespace analysis {

// Throws UsageError, in one line that names two runs, for
// 1. copies of a run: the run is the unit, and each may count once only;
// 2. runs with different ranks, strategies, models, data or batches, which differ without any noise;
// 3. a run that did not finish, unless `unfinished` allows it.
void check_comparable(const std::vector<RunSteps>& quiet, const std::vector<RunSteps>& noisy, bool unfinished);

}  // namespace analysis
