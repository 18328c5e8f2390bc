// SPDX-License-Identifier: Apache-2.0
// Waits until a job takes steps, and says meanwhile what it does instead.
#pragma once

#include "crosstalk/run/job.hpp"
#include "crosstalk/run/request/ended.hpp"

namespace crosstalk {

constexpr std::int64_t look_again_ns = 100'000'000;
constexpr std::int64_t line_every_ns = 10'000'000'000;  // during a run

// Waits for the job's first steps, or for events that may be steps; prints a line every 10 s meanwhile. Throws Ended if
// the job ends before, or if there are none within request.first_steps_within.
void wait_for_first_steps(Job& job, const Request& request);

// Why there will be no report of a job that has ended. One that ended well was too short for noise to cover it.
Ended ended_by_itself(const Job& job, const std::string& when);

}  // namespace crosstalk
