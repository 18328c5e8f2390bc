// SPDX-License-Identifier: Apache-2.0
// This process's rank among its job's processes on the same host, and its share of the host's CPUs.
#pragma once

#include "base/system/cpus.hpp"

#include <string_view>
#include <vector>

namespace base {

// Local rank and size from the launcher's environment (OpenMPI, MPICH and Intel MPI, Slurm, torchrun); 0 of 1 without a
// launcher.
struct LocalRank {
    int rank = 0;
    int size = 1;
};
LocalRank local_rank();

// This process's rank among the local ranks that may use the same CPUs: normally all of them. Tasks that Slurm has
// bound to separate CPUs are alone.
LocalRank rank_among_sharers();

// The same from Slurm's description of its binding: SLURM_CPU_BIND_TYPE ("mask_cpu:") and SLURM_CPU_BIND_LIST
// ("0x3,0xc", assigned to the node's tasks in turn).
LocalRank slurm_sharers(LocalRank local, std::string_view type, std::string_view list);

// Number of tasks on one node of a Slurm step, from SLURM_STEP_TASKS_PER_NODE ("2(x3),1") and the node's number.
int slurm_tasks_on_node(std::string_view tasks_per_node, int node);

// This rank's share of the cores: whole physical cores if there are enough for all ranks of the host; otherwise single
// CPUs; otherwise all ranks share all CPUs.
CpuSet share_of(const std::vector<Core>& cores, LocalRank local);

}  // namespace base
