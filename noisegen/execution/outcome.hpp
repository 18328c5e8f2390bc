// Did noise keep its promises, and what did it reach?
#pragma once

#include "noisegen/execution/threads/team.hpp"

#include <ostream>
#include <vector>

namespace noisegen {

// The exit code; on stderr what was not reached.
int judge(const Schedule& schedule, const std::vector<LevelTotal>& totals);

// A line for each level.
void print(std::ostream& out, const Schedule& schedule, const std::vector<LevelTotal>& totals);

}  // namespace noisegen
