// SPDX-License-Identifier: Apache-2.0
// The processes of a job begin together, with slots of one length.
#pragma once

#include "base/system/launcher.hpp"
#include "noisegen/execution/plan.hpp"
#include "noisegen/execution/threads/team.hpp"
#include "noisegen/schedule/pilot.hpp"

#include <cstdint>
#include <filesystem>

namespace noisegen {

struct Agreement {
    base::Nanoseconds slot{};   // 0 where slots have lengths of their own
    std::int64_t start_ns = 0;  // of the schedule, on CLOCK_MONOTONIC
    std::vector<PilotRound> pilot;
};

// For slot=auto the training's steps are measured, and the team tries out whether noise lasts beyond its slot; slots
// are doubled until it does not. The plan then has its table. `noise` is the directory of the job's noise, empty
// without records. Throws what job_plan.hpp and check_designed() say, and what the team throws.
Agreement agree_with_others(Plan& plan, Team& team, const std::filesystem::path& noise, const base::JobRank& job);

}  // namespace noisegen
