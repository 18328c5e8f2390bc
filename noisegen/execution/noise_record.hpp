// noise.json: who made noise, where, when and how, and what came of it.
#pragma once

#include "noisegen/execution/plan.hpp"
#include "noisegen/execution/threads/team.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>

namespace noisegen {

// What is fixed before noise begins; `slot` is 0 where slots have lengths of their own, times are of CLOCK_MONOTONIC.
void record_plan(nlohmann::ordered_json& record, const Plan& plan, base::Nanoseconds slot, std::int64_t start_ns);

// What the team did; of a team that has stopped.
void record_team(nlohmann::ordered_json& record, const Plan& plan, const Team& team);

}  // namespace noisegen
