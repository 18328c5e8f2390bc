// SPDX-License-Identifier: Apache-2.0
// Names by which noise that takes cores from a job is asked for, and known in its records.
#pragma once

namespace base::job_cores {

inline constexpr const char* stressor = "job.cores";
inline constexpr const char* keep = "keep";            // its option: physical cores that each rank keeps
inline constexpr const char* neighbour = "neighbour";  // its option: what runs on the cores that are freed
inline constexpr const char* no_neighbour = "none";

// In `how` of the stressor in noise.json: before the number of ranks of the host, and before the CPUs that all of them
// keep: "confined 2 processes (9 threads) to CPUs 0-3".
inline constexpr const char* confined = "confined ";
inline constexpr const char* kept_cpus = " to CPUs ";

}  // namespace base::job_cores
