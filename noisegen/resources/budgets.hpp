// SPDX-License-Identifier: Apache-2.0
// Budgets of stressors on this machine; demands beyond them are refused.
#pragma once

#include "base/cli/options.hpp"
#include "base/system/local_rank.hpp"
#include "noisegen/schedule/schedule.hpp"

#include <cstdint>
#include <vector>

namespace noisegen {

// Demand of one stressor in this process: its needs times its number of CPUs.
struct Demand {
    std::string stressor;
    Needs needs;
    std::size_t instances = 1;
};

// Demands of all stressors of the schedule; `runs` has the CPUs of each (divide()).
std::vector<Demand> demands(const Schedule& schedule, const std::vector<std::vector<int>>& runs);

struct Budgets {
    base::Percent max_memory{50.0};  // percent of the available memory
    base::Percent max_disk{50.0};    // percent of the free space and free inodes, for each file system
};

// Adds --max-memory and --max-disk.
void add_budgets(base::Options& options, Budgets& budgets);

// Maximum number of files that one process makes: they must be removed within half a second after the end.
constexpr std::int64_t most_files_of_a_process = 100'000;

// Checks the demands of `processes` equal processes on this host. Throws UsageError that names the request, the
// available amount and the option that decides, or Unavailable. Files on a file system in memory count as memory too,
// and are reported on stderr.
void check_demands(const std::vector<Demand>& demands, const Budgets& budgets, int processes = base::local_rank().size);

// Raises RLIMIT_NOFILE so that this process can open the files of the demands in addition to its own. Throws UsageError
// if that exceeds the hard limit.
void allow_descriptors(const std::vector<Demand>& demands);

}  // namespace noisegen
