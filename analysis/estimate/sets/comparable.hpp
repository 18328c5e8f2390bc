// SPDX-License-Identifier: Apache-2.0
// Which runs may be set against each other.
#pragma once

#include "analysis/input/run_steps.hpp"

#include <vector>

namespace analysis {

// Throws UsageError, one line that names two runs, for
// 1. copies of a run: the run is the unit, each counts once;
// 2. other ranks, strategies, models, data or batches: they would differ without any noise;
// 3. a run that did not come to its end, unless `unfinished` allows it.
void check_comparable(const std::vector<RunSteps>& quiet, const std::vector<RunSteps>& noisy, bool unfinished);

}  // namespace analysis
