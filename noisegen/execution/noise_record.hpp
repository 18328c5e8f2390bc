// SPDX-License-Identifier: Apache-2.0
// noise.json: who made noise, where, when and how, and what came of it.
#pragma once

#include "noisegen/execution/agreement.hpp"
#include "noisegen/execution/threads/team.hpp"

#include <nlohmann/json_fwd.hpp>

namespace noisegen {

// Records all that is fixed before noise begins; times are of CLOCK_MONOTONIC.
void record_plan(nlohmann::ordered_json& record, const Plan& plan, const Agreement& agreement);

// Records the work of a team that has stopped.
void record_team(nlohmann::ordered_json& record, const Plan& plan, const Team& team);

}  // namespace noisegen
