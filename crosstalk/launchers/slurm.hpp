// SPDX-License-Identifier: Apache-2.0
// Queries to Slurm.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace crosstalk {

// The output of a Slurm command; none if it fails, for example because the controller is down.
std::optional<std::string> said_by(const std::vector<std::string>& words);

// Throws UsageError if this process is not in a Slurm job. `script`: a job script to suggest.
void need_job_of_slurm(const char* script);

// Path of the present job's script, as given to sbatch. Empty without one.
std::string submitted_script();

}  // namespace crosstalk
