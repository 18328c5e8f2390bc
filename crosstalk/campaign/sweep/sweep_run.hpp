// SPDX-License-Identifier: Apache-2.0
// Runs the trials of a sweep: starts its workers, each on cores of its own, and starts a killed one again.
#pragma once

#include "base/system/cpus.hpp"

#include <filesystem>
#include <string>

namespace crosstalk {

// Creates the directory with the text of a spec, and with the same for the workers. Throws UsageError for an invalid
// spec, or if the directory exists.
void make_sweep(const std::string& spec, const std::filesystem::path& directory);

// Runs trials until all have ended. `cpus`: those of the workers; empty: free cores of those that this process may use.
// Returns exit_fine, or exit_promise_not_kept if a trial failed. Throws UsageError if a training holds the CPUs or
// another process of this machine runs the sweep, Unavailable without Optuna, Error for a full disk, Interrupted.
int run_sweep(const std::filesystem::path& directory, const base::CpuSet& cpus);

// Numbers of trials by state.
struct SweepStanding {
    int trials = 0;
    int ended = 0;
    int failed = 0;
    int running = 0;
    bool is_being_run = false;  // on this machine
};

SweepStanding sweep_standing(const std::filesystem::path& directory);

// Writes sweep.csv and the report, and prints the result. Returns as run_sweep() does.
int collect_sweep(const std::filesystem::path& directory);

}  // namespace crosstalk
