// SPDX-License-Identifier: Apache-2.0
// One noise process, from the claim of its directory to its last record.
#pragma once

#include "noisegen/execution/plan.hpp"

#include <nlohmann/json_fwd.hpp>

namespace noisegen {

// Returns the exit code at the end of the duration, or about a tenth of a second after the program was asked to stop: 3
// if a rate was not reached or an overlap ended the run. `record` is base::run_record(). Rank 0 prints results to
// stdout; notes go to stderr.
int run(Plan plan, nlohmann::ordered_json record);

}  // namespace noisegen
