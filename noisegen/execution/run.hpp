// SPDX-License-Identifier: Apache-2.0
// One noise process from the claim of its directory to its last record.
#pragma once

#include "noisegen/execution/plan.hpp"

#include <nlohmann/json_fwd.hpp>

namespace noisegen {

// Returns at the end of the duration, or about a tenth of a second after the program was asked to stop, with the exit
// code: 3 if a rate was not reached, or an overlap ended it. `record` is base::run_record(). Results go to stdout (rank
// 0), notes to stderr.
int run(Plan plan, nlohmann::ordered_json record);

}  // namespace noisegen
