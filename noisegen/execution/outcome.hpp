// SPDX-License-Identifier: Apache-2.0
// Comparison of the noise achieved with the noise requested.
#pragma once

#include "noisegen/execution/threads/team.hpp"

#include <ostream>
#include <string>
#include <vector>

namespace noisegen {

// Returns the exit code, and prints to stderr which requests were not reached. The team must have stopped.
int judge(const Schedule& schedule, const Team& team);

// "4GiB/s = 4.29 GB/s": the rate as given and, if achieved rates are printed in another unit, in that unit.
std::string asked_text(const base::Rate& rate);

// Prints one line for each level.
void print(std::ostream& out, const Schedule& schedule, const std::vector<LevelTotal>& totals);

}  // namespace noisegen
