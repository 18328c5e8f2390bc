// SPDX-License-Identifier: Apache-2.0
// Names of job.cores, the noise that takes cores away from a job: its options, and its text in records.
#pragma once

namespace base::job_cores {

inline constexpr const char* stressor = "job.cores";
inline constexpr const char* keep = "keep";            // option: physical cores that each rank keeps
inline constexpr const char* neighbour = "neighbour";  // option: stressor that runs on the freed cores
inline constexpr const char* no_neighbour = "none";

// Parts of the text `how` in noise.json: "confined 2 processes (9 threads) to CPUs 0-3", the ranks on this host and the
// CPUs that they keep together.
inline constexpr const char* confined = "confined ";
inline constexpr const char* kept_cpus = " to CPUs ";

}  // namespace base::job_cores
