// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/launchers/slurm.hpp"

#include "base/error.hpp"
#include "base/system/environment.hpp"
#include "base/words.hpp"
#include "crosstalk/programs/programs.hpp"

namespace crosstalk {

std::optional<std::string> said_by(const std::vector<std::string>& words)
{
    const Answer answer = answer_of(words, Errors::as_ours);
    return answer.code == 0 ? std::optional{answer.text} : std::nullopt;
}

void need_job_of_slurm(const char* script)
{
    const std::string job = base::environment("SLURM_JOB_ID").value_or("");
    if (job.empty()) base::fail_usage("--back-end step needs a Slurm job: sbatch ", script);
    if (job.find_first_not_of("0123456789") != std::string::npos)
        base::fail_usage("SLURM_JOB_ID: '", job, "' is not the number of a job");
}

std::string submitted_script()
{
    constexpr std::string_view key = "Command=";
    const std::string job =
        said_by({"scontrol", "show", "job", base::environment("SLURM_JOB_ID").value_or("")}).value_or("");
    for (const std::string& line : lines_of(job))
        if (base::trim(line).starts_with(key)) return std::string{base::trim(line).substr(key.size())};
    return "";
}

}  // namespace crosstalk
