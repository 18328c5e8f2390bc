// SPDX-License-Identifier: Apache-2.0
// Settings by which an operator leaves a job so many cores.
#pragma once

#include <string>
#include <vector>

namespace analysis {

// A node on which each rank keeps so many cores. Numbers that no record says are 0.
struct CoresKept {
    int cores_of_rank = 0;
    int cpus_of_rank = 0;   // with SMT siblings
    int cpus_of_node = 0;   // all of it
    int kept_of_node = 0;   // CPUs that its ranks keep together
    std::string kept_list;  // those
    bool rank_is_gpu = false;
};

struct CoreSetting {
    std::string system;  // "slurm", "slurm_before_24_05", "kubelet"
    std::string text;
};

// docs/slurm.md says what each does.
std::vector<CoreSetting> core_settings(const CoresKept& kept);

}  // namespace analysis
