// SPDX-License-Identifier: Apache-2.0
// Cost of processes: CPU time, elapsed time and peak memory.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace testing {

// Runs the work in a forked process. Returns the largest resident memory of that process and of the programs that it
// waited for. Includes the memory of this process at the fork. Throws Error if the work fails.
double peak_mb(const std::function<void()>& work);

struct ProcessCost {
    double cpu_s = 0.0;
    double wall_s = 0.0;
};

// CPU time of the processes that the work starts and waits for; this process's own is not included.
ProcessCost cost_of_children(const std::function<void()>& work);

// Runs words[0] with its arguments. Throws Error with what it printed unless its exit code is 0.
ProcessCost cost_of_program(const std::vector<std::string>& words);

}  // namespace testing
