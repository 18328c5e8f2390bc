// SPDX-License-Identifier: Apache-2.0
// Did noise keep its promises, and what did it reach?
#pragma once

#include "noisegen/execution/threads/team.hpp"

#include <ostream>
#include <string>
#include <vector>

namespace noisegen {

// The exit code; on stderr what was not reached. Of a team that has stopped.
int judge(const Schedule& schedule, const Team& team);

// "4GiB/s = 4.29 GB/s": as given and, in another unit than that of what is reached, in that too.
std::string asked_text(const base::Rate& rate);

// A line for each level.
void print(std::ostream& out, const Schedule& schedule, const std::vector<LevelTotal>& totals);

}  // namespace noisegen
