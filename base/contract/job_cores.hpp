// SPDX-License-Identifier: Apache-2.0
// Names of job.cores, the noise that takes cores away from a job: its options, and its text in records.
#pragma once

namespace base::job_cores {

inline constexpr const char* stressor = "job.cores";
inline constexpr const char* keep = "keep";            // option: physical cores that each rank keeps
inline constexpr const char* neighbour = "neighbour";  // option: stressor that runs on the freed cores
inline constexpr const char* no_neighbour = "none";

// Member of the stressor in noise.json: the CPUs that each process of the job on this host kept: ["0-1", "2-3"].
inline constexpr const char* kept_cpus = "kept_cpus";

}  // namespace base::job_cores
