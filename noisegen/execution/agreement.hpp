// SPDX-License-Identifier: Apache-2.0
// Agreement of a job's noise processes on a common start and slot length.
#pragma once

#include "base/system/launcher.hpp"
#include "noisegen/execution/plan.hpp"
#include "noisegen/execution/threads/team.hpp"
#include "noisegen/schedule/pilot.hpp"

#include <cstdint>
#include <filesystem>

namespace noisegen {

struct Agreement {
    base::Nanoseconds slot{};   // 0 if slots have different lengths
    std::int64_t start_ns = 0;  // start of the schedule, on CLOCK_MONOTONIC
    std::vector<PilotRound> pilot;
};

// For slot=auto, measures the training's steps, and lets the team test whether the effect of noise outlasts its slot;
// slots are doubled until it does not. Afterwards the plan has its slot table. `noise` is the directory of the job's
// noise, empty without records. Throws the errors of job_plan.hpp, check_designed() and the team.
Agreement agree_with_others(Plan& plan, Team& team, const std::filesystem::path& noise, const base::JobRank& job);

}  // namespace noisegen
