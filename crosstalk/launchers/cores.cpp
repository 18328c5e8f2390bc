// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/launchers/cores.hpp"

#include "base/error.hpp"
#include "base/random.hpp"

#include <algorithm>
#include <utility>

namespace crosstalk {

namespace {

// CPUs of the cores that have no CPU in `taken`.
base::CpuSet cores_beside(const std::vector<base::Core>& cores, const base::CpuSet& taken)
{
    base::CpuSet left;
    for (const base::Core& core : cores) {
        const auto is_taken = [&](int cpu) { return taken.contains(cpu); };
        if (std::none_of(core.cpus.begin(), core.cpus.end(), is_taken)) left.insert(core.cpus.begin(), core.cpus.end());
    }
    return left;
}

base::CpuSet every_other(const std::vector<base::Core>& cores, std::size_t first)
{
    base::CpuSet cpus;
    for (std::size_t i = first; i < cores.size(); i += 2) cpus.insert(cores[i].cpus.begin(), cores[i].cpus.end());
    return cpus;
}

}  // namespace

Split split_cores(const std::vector<base::Core>& cores, const base::CpuSet& job, const base::CpuSet& noise)
{
    Split split{job, noise};
    if (job.empty() && noise.empty()) {
        split.job = every_other(cores, 0);
        split.noise = cores.size() > 1 ? every_other(cores, 1) : split.job;
    } else if (noise.empty()) {
        split.noise = cores_beside(cores, job);
    } else if (job.empty()) {
        split.job = cores_beside(cores, noise);
    }
    if (split.job.empty())
        base::fail_usage("--noise-cpus ", base::format_cpus(noise), " leaves no core to the training: give it --cpus");
    if (split.noise.empty())
        base::fail_usage("--cpus ", base::format_cpus(job), " leaves no core to the noise: give it --noise-cpus");
    split.shared = split.job == split.noise;
    if (split.shared) return split;
    const base::CpuSet both = base::common_cpus(split.job, split.noise);
    if (!both.empty())
        base::fail_usage("--cpus and --noise-cpus both have ", base::format_cpus(both),
                         ": make them disjoint, or the same");
    return split;
}

void swap_neighbours(std::vector<base::Core>& cores, std::uint64_t seed)
{
    base::Random random = base::random_stream(seed, cores.size());
    for (std::size_t i = 0; i + 1 < cores.size(); i += 2)
        if (base::draw_below(random, 2) == 1) std::swap(cores[i], cores[i + 1]);
}

}  // namespace crosstalk
