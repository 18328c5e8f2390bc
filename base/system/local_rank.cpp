// SPDX-License-Identifier: Apache-2.0
#include "base/system/local_rank.hpp"

#include "base/error.hpp"
#include "base/system/environment.hpp"
#include "base/units.hpp"
#include "base/words.hpp"

#include <optional>
#include <string>

namespace base {

namespace {

// Returns none if a number is missing or the two contradict each other.
std::optional<LocalRank> rank_of(std::optional<int> rank, std::optional<int> size)
{
    if (!rank || !size || *rank < 0 || *rank >= *size) return {};
    return LocalRank{*rank, *size};
}

std::optional<int> slurm_tasks_here()
{
    const auto tasks = environment("SLURM_STEP_TASKS_PER_NODE");
    const auto node = environment_number("SLURM_NODEID");
    if (!tasks || !node) return {};
    return slurm_tasks_on_node(*tasks, *node);
}

std::optional<LocalRank> mpirun_rank()
{
    const auto number = environment_number;
    if (const auto local = rank_of(number("OMPI_COMM_WORLD_LOCAL_RANK"), number("OMPI_COMM_WORLD_LOCAL_SIZE")))
        return local;
    // mpirun of MPICH and Intel MPI starts its daemons by srun in a Slurm job. SLURM_* variables count the daemons, so
    // these variables come first.
    return rank_of(number("MPI_LOCALRANKID"), number("MPI_LOCALNRANKS"));
}

// srun may start torchrun once per node; SLURM_* variables count those processes, so torchrun's come first.
std::optional<LocalRank> torchrun_rank()
{
    return rank_of(environment_number("LOCAL_RANK"), environment_number("LOCAL_WORLD_SIZE"));
}

std::optional<LocalRank> slurm_rank()
{
    return rank_of(environment_number("SLURM_LOCALID"), slurm_tasks_here());
}

}  // namespace

LocalRank local_rank()
{
    const auto number = environment_number;
    if (const auto local = rank_of(number("CROSSTALK_LOCAL_RANK"), number("CROSSTALK_RANKS"))) return *local;
    if (const auto local = mpirun_rank()) return *local;
    if (const auto local = torchrun_rank()) return *local;
    return slurm_rank().value_or(LocalRank{});
}

LocalRank rank_among_sharers()
{
    if (const auto local = mpirun_rank()) return *local;
    return slurm_sharers(local_rank(), environment("SLURM_CPU_BIND_TYPE").value_or(""),
                         environment("SLURM_CPU_BIND_LIST").value_or(""));
}

LocalRank slurm_sharers(LocalRank local, std::string_view type, std::string_view list)
{
    const std::vector<std::string> bindings = split(list, ',');
    // "0x1*4" means four such masks; this form is not parsed, and all tasks count as sharers.
    if (bindings.empty() || list.find('*') != std::string_view::npos ||
        (!type.starts_with("mask_cpu") && !type.starts_with("map_cpu")))
        return local;
    const auto binding = [&bindings](int rank) { return bindings[static_cast<std::size_t>(rank) % bindings.size()]; };
    LocalRank sharers{.rank = 0, .size = 0};
    for (int rank = 0; rank < local.size; ++rank) {
        if (binding(rank) != binding(local.rank)) continue;
        if (rank < local.rank) ++sharers.rank;
        ++sharers.size;
    }
    return sharers;
}

int slurm_tasks_on_node(std::string_view tasks_per_node, int node)
{
    int later = node;
    for (const std::string& group : split(tasks_per_node, ',')) {
        const std::size_t bracket = group.find("(x");
        const int tasks = parse<int>(std::string_view{group}.substr(0, bracket));
        int nodes = 1;
        if (bracket != std::string::npos)
            nodes = parse<int>(std::string_view{group}.substr(bracket + 2, group.size() - bracket - 3));
        if (later < nodes) return tasks;
        later -= nodes;
    }
    fail("node ", node, " is not among ", tasks_per_node);
}

CpuSet share_of(const std::vector<Core>& cores, LocalRank local)
{
    const auto rank = static_cast<std::size_t>(local.rank);
    const auto size = static_cast<std::size_t>(local.size);
    if (cores.size() >= size) return part_of(cores, rank, size);
    std::vector<Core> halves;  // each CPU on its own, siblings side by side
    for (const Core& core : cores)
        for (const int cpu : core.cpus) halves.push_back(Core{.cpus = {cpu}});
    return halves.size() >= size ? part_of(halves, rank, size) : cpus_of(cores);
}

}  // namespace base
