// SPDX-License-Identifier: Apache-2.0
// The main thread while noise runs: progress, warnings and reasons to stop.
#pragma once

#include "noisegen/execution/overlap_watch.hpp"
#include "noisegen/execution/threads/team.hpp"
#include "noisegen/execution/training_watch.hpp"

#include <cstdint>
#include <string>

namespace noisegen {

// Waits for the table's end or a reason to stop. Returns the reason: duration, failure, overlap, parent died, or a
// signal.
std::string supervise(const Plan& plan, std::int64_t start_ns, Team& team, OverlapWatch& watch,
                      TrainingWatch& training);

// Prints one line for each CPU whose noise thread was moved to other CPUs since the last call.
void warn_of_moved_noise(Team& team);

}  // namespace noisegen
