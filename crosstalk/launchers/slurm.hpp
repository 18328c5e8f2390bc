// SPDX-License-Identifier: Apache-2.0
// Queries to Slurm.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace crosstalk {

// The output of a Slurm command; none if it fails, as while the controller is away.
std::optional<std::string> said_by(const std::vector<std::string>& words);

// Throws UsageError where this process is in no job of Slurm. `script`: submits one in which it is.
void need_job_of_slurm(const char* script);

// The script of the job that this process is in, as it was named to sbatch. Empty without one.
std::string submitted_script();

}  // namespace crosstalk
