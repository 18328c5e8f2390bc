// SPDX-License-Identifier: Apache-2.0
// Cost of processes: CPU time, time by the clock, peak memory.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace testing {

// Runs the work in a process of its own. Returns the largest resident memory of it and of the programs that it ran and
// waited for; this process's memory counts too, since a fork has it. Throws Error if the work fails.
double peak_mb(const std::function<void()>& work);

struct ProcessCost {
    double cpu_s = 0.0;
    double wall_s = 0.0;
};

// CPU time of the processes that the work starts and waits for, not its own.
ProcessCost cost_of_children(const std::function<void()>& work);

// Runs words[0] with its arguments. Throws Error with what it printed unless its exit code is 0.
ProcessCost cost_of_program(const std::vector<std::string>& words);

}  // namespace testing
