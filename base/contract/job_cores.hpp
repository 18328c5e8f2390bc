// SPDX-License-Identifier: Apache-2.0
// Noise that takes cores from a job: its names, and how the ranks of a node share the cores that are left.
#pragma once

#include "base/system/cpus.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <vector>

#include <sys/types.h>

namespace base::job_cores {

inline constexpr const char* stressor = "job.cores";
inline constexpr const char* keep = "keep";            // option: physical cores that each rank keeps
inline constexpr const char* neighbour = "neighbour";  // option: stressor that runs on the freed cores
inline constexpr const char* no_neighbour = "none";

// Member of the stressor in noise.json: the CPUs that each process of the job on this host kept: ["0-1", "2-3"].
inline constexpr const char* kept_cpus = "kept_cpus";

// By rank, which is a process of the job.
using CpusOfRanks = std::map<pid_t, CpuSet>;

// The CPUs that the threads of each rank may use; without ranks that have ended.
CpusOfRanks usable_cpus(const std::set<pid_t>& ranks);

// The CPUs that each rank keeps: the first `wanted` physical cores, SMT siblings included, of those that it may use and
// that no other rank keeps. Ranks with fewer cores choose before others. Throws UsageError that names the rank for
// which too few are left.
CpusOfRanks share(const CpusOfRanks& usable, std::size_t wanted, const std::vector<Core>& cores);

// The most cores that each rank can keep; 0 without ranks, or if one cannot keep any.
std::size_t most_to_keep(const CpusOfRanks& usable, const std::vector<Core>& cores);

}  // namespace base::job_cores
