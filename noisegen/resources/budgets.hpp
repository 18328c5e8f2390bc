// SPDX-License-Identifier: Apache-2.0
// Budgets of stressors on this machine, and the refusal to take the last of it.
#pragma once

#include "base/cli/options.hpp"
#include "base/system/local_rank.hpp"
#include "noisegen/schedule/schedule.hpp"

#include <cstdint>
#include <vector>

namespace noisegen {

// Demand of one stressor in this process: its needs times the CPUs it runs on.
struct Demand {
    std::string stressor;
    Needs needs;
    std::size_t instances = 1;
};

// Demands of all stressors of the schedule; `runs` are the CPUs of each (divide()).
std::vector<Demand> demands(const Schedule& schedule, const std::vector<std::vector<int>>& runs);

struct Budgets {
    base::Percent max_memory{50.0};  // of what is available
    base::Percent max_disk{50.0};    // of the space and of the files that are free, each file system separately
};

// --max-memory and --max-disk.
void add_budgets(base::Options& options, Budgets& budgets);

// Files that one process makes at most: they must be gone half a second after the end.
constexpr std::int64_t most_files_of_a_process = 100'000;

// `processes` of this host take as much each. Throws UsageError that says what was asked for, what there is and which
// option decides, or Unavailable. Files in memory count as memory too; that they are there is reported on stderr.
void check_demands(const std::vector<Demand>& demands, const Budgets& budgets, int processes = base::local_rank().size);

// Lets this process open as many files as the demands say (RLIMIT_NOFILE), beside what it opens anyway. Throws
// UsageError if that is more than the hard limit.
void allow_descriptors(const std::vector<Demand>& demands);

}  // namespace noisegen
