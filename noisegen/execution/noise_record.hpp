// SPDX-License-Identifier: Apache-2.0
// noise.json: host, time, options and results of a noise process.
#pragma once

#include "noisegen/execution/agreement.hpp"
#include "noisegen/execution/threads/team.hpp"

#include <nlohmann/json_fwd.hpp>

namespace noisegen {

// Records all that is fixed before noise begins. Times are CLOCK_MONOTONIC.
void record_plan(nlohmann::ordered_json& record, const Plan& plan, const Agreement& agreement);

// Records the work of a team after it has stopped.
void record_team(nlohmann::ordered_json& record, const Plan& plan, const Team& team);

}  // namespace noisegen
