// SPDX-License-Identifier: Apache-2.0
// This process among those of its job on the same host, and its share of the host's CPUs.
#pragma once

#include "base/system/cpus.hpp"

#include <string_view>
#include <vector>

namespace base {

// From the launcher's environment (OpenMPI, MPICH and Intel MPI, Slurm, torchrun); 0 of 1 without one.
struct LocalRank {
    int rank = 0;
    int size = 1;
};
LocalRank local_rank();

// Its place among those of them that may use the same CPUs: all, but for tasks that Slurm has bound apart, each of
// which is alone with its CPUs already.
LocalRank rank_among_sharers();

// The same from what Slurm says of its binding: SLURM_CPU_BIND_TYPE ("mask_cpu:") and SLURM_CPU_BIND_LIST
// ("0x3,0xc", dealt to the node's tasks in turn).
LocalRank slurm_sharers(LocalRank local, std::string_view type, std::string_view list);

// Tasks on one node of a Slurm step, from SLURM_STEP_TASKS_PER_NODE ("2(x3),1") and the node's number.
int slurm_tasks_on_node(std::string_view tasks_per_node, int node);

// Whole physical cores where there are enough of them for all ranks of the host, else CPUs, else all ranks share all.
CpuSet share_of(const std::vector<Core>& cores, LocalRank local);

}  // namespace base
