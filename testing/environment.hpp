// SPDX-License-Identifier: Apache-2.0
// Sets environment variables as a launcher would, for the duration of a test.
#pragma once

#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace testing {

class Environment {
 public:
    // Sets these variables, and removes all other variables from which programs read their rank.
    explicit Environment(const std::map<std::string, std::string>& variables)
    {
        for (const char* name :
             {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
              "OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS",
              "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID", "SLURM_NTASKS",
              "SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE", "SLURM_CPU_BIND_TYPE", "SLURM_CPU_BIND_LIST"})
            forget(name);
        for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"}) forget(name);
        for (const auto& [name, value] : variables) {
            keep(name);
            ::setenv(name.c_str(), value.c_str(), 1);
        }
    }
    ~Environment()
    {
        for (auto variable = before_.rbegin(); variable != before_.rend(); ++variable) {
            const auto& [name, value] = *variable;
            if (value)
                ::setenv(name.c_str(), value->c_str(), 1);
            else
                ::unsetenv(name.c_str());
        }
    }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

 private:
    void keep(const std::string& name)
    {
        const char* value = std::getenv(name.c_str());
        before_.emplace_back(name, value == nullptr ? std::optional<std::string>{} : std::string{value});
    }

    void forget(const char* name)
    {
        keep(name);
        ::unsetenv(name);
    }

    std::vector<std::pair<std::string, std::optional<std::string>>> before_;
};

}  // namespace testing
