// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/run/place/placement.hpp"

#include "base/error.hpp"
#include "crosstalk/launchers/slurm.hpp"
#include "crosstalk/run/place/gpu_cores.hpp"

namespace crosstalk {

namespace {

// Places a rank near each GPU, if this node reports the location of its GPUs.
void place_near_gpus(Placement& placement, const Request& request, int ranks_of_node)
{
    const std::vector<base::CpuSet> gpus = near_gpus();
    const auto wanted = static_cast<std::size_t>(request.gpus_per_node);
    if (gpus.empty()) return base::warn("no nvidia-smi: ranks are bound without regard to GPUs");
    if (gpus.size() < wanted)
        base::fail_usage("this node shows ", gpus.size(), " GPU(s), but ", wanted, " are requested");
    std::vector<base::CpuSet> near;
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks_of_node); ++rank)
        near.push_back(gpus[rank % wanted]);
    SplitNear split =
        split_near(base::physical_cores(base::allowed_cpus()), request.job_cpus, request.noise_cpus, near);
    placement.cores = {.job = {}, .noise = split.noise};
    for (std::size_t rank = 0; rank < split.each_rank.size(); ++rank) {
        const base::CpuSet& cpus = split.each_rank[rank];
        base::warn("rank ", rank, " of a node: GPU ", rank % wanted, ", CPUs ", base::format_cpus(cpus));
        placement.cores.job.insert(cpus.begin(), cpus.end());
    }
    if (placement.cores.noise.empty())
        base::fail_usage("no core is left to the noise: the job has ", base::format_cpus(placement.cores.job));
    placement.each_rank = std::move(split.each_rank);
}

}  // namespace

std::unique_ptr<Launcher> launcher_for(const Request& request)
{
    if (request.back_end != "step") return local_launcher(request.noise_launch);
    need_job_of_slurm("co-schedule.sbatch");
    return step_launcher(0, request.gpus_per_node);
}

Placement placement_for(const Request& request, const Launcher& launcher)
{
    base::check_cpus(request.job_cpus);
    base::check_cpus(request.noise_cpus);
    Placement placement;
    if (request.back_end == "step") {
        const int ranks_of_node =
            request.ranks_per_node > 0 ? request.ranks_per_node : std::max(request.gpus_per_node, 1);
        placement.ranks = launcher.nodes() * ranks_of_node;
        if (request.gpus_per_node > 0) place_near_gpus(placement, request, ranks_of_node);
        if (!placement.each_rank.empty()) return placement;
    }
    std::vector<base::Core> cores = base::physical_cores(base::allowed_cpus());
    if (request.cores_seed != 0) swap_neighbours(cores, request.cores_seed);
    placement.cores = split_cores(cores, request.job_cpus, request.noise_cpus);
    return placement;
}

}  // namespace crosstalk
