// Where a rank runs: its share of the CPUs, for every thread of it, those included that libraries start before main().
#pragma once

#include "base/cpus.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace ddl {

// This process among those of the job on its node, from the launcher's environment (OpenMPI, Slurm); 0 of 1 without
// one.
struct LocalRank {
    int rank = 0;
    int size = 1;
};
LocalRank local_rank();

// Tasks on one node of a Slurm step, from SLURM_STEP_TASKS_PER_NODE ("2(x3),1") and the node's number.
int slurm_tasks_on_node(std::string_view tasks_per_node, int node);

// Whole physical cores where there are enough of them for all ranks of the node, else CPUs, else all ranks share all.
base::CpuSet share_of(const base::CpuSet& cpus, const LocalRank& local);

// Binds this process and limits the threads of OpenMP and OpenBLAS. Their libraries start threads before main() and
// read the environment only then, so the program executes itself once more and returns from here the second time only.
// No list of CPUs: the binding stays as it was. Throws UsageError for CPUs that this process may not use.
void place(const std::optional<base::CpuSet>& cpus, int threads, char** argv);

}  // namespace ddl
