// The processes of a job begin together, with slots of one length.
#pragma once

#include "base/system/launcher.hpp"
#include "noisegen/execution/plan.hpp"

#include <cstdint>
#include <filesystem>

namespace noisegen {

struct Agreement {
    base::Nanoseconds slot{};   // 0 where slots have lengths of their own
    std::int64_t start_ns = 0;  // of the schedule, on CLOCK_MONOTONIC
};

// Measures the training's steps for slot=auto; the plan then has its table. `noise` is the directory of the job's
// noise, empty without records. Throws what job_plan.hpp and check_designed() say.
Agreement agree_with_others(Plan& plan, const std::filesystem::path& noise, const base::JobRank& job);

}  // namespace noisegen
