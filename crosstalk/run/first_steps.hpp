// SPDX-License-Identifier: Apache-2.0
// Waits for a job's first steps, and reports meanwhile what the job does.
#pragma once

#include "crosstalk/run/job.hpp"
#include "crosstalk/run/request/ended.hpp"

namespace crosstalk {

constexpr std::int64_t look_again_ns = 100'000'000;
constexpr std::int64_t line_every_ns = 10'000'000'000;  // interval of lines during a run

// Waits for the job's first steps, or for events that may be steps; prints a line every 10 s meanwhile. Throws Ended if
// the job ends before that, or if there are none within request.first_steps_within.
void wait_for_first_steps(Job& job, const Request& request);

// The reason why an ended job gets no report. A job that ended without an error was too short for noise to cover it.
Ended ended_by_itself(const Job& job, const std::string& when);

}  // namespace crosstalk
