// SPDX-License-Identifier: Apache-2.0
// Settings with which an operator guarantees a job a number of cores.
#pragma once

#include <string>
#include <vector>

namespace analysis {

// A node on which each rank keeps `cores_of_rank` cores. Numbers are 0 if they are not recorded.
struct CoresKept {
    int cores_of_rank = 0;
    int cpus_of_rank = 0;   // the same in CPUs, SMT siblings included
    int cpus_of_node = 0;   // all CPUs of the node
    int kept_of_node = 0;   // CPUs that its ranks keep together
    std::string kept_list;  // list of these CPUs
    bool rank_is_gpu = false;
};

struct CoreSetting {
    std::string system;  // "slurm", "slurm_before_24_05", "kubelet"
    std::string text;
};

// The settings for each system; docs/slurm.md describes what each does.
std::vector<CoreSetting> core_settings(const CoresKept& kept);

}  // namespace analysis
