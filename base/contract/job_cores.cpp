// SPDX-License-Identifier: Apache-2.0
#include "base/contract/job_cores.hpp"

#include "base/error.hpp"
#include "base/system/processes.hpp"

#include <algorithm>

namespace base::job_cores {

namespace {

std::size_t cores_with(const CpuSet& cpus, const std::vector<Core>& cores)
{
    return static_cast<std::size_t>(
        std::ranges::count_if(cores, [&](const Core& core) { return have_common(core.cpus, cpus); }));
}

}  // namespace

CpusOfRanks usable_cpus(const std::set<pid_t>& ranks)
{
    CpusOfRanks usable;
    for (const pid_t rank : ranks) {
        CpuSet cpus;
        for (const auto& [id, thread] : threads_of(rank)) cpus.merge(affinity_of(id));
        if (!cpus.empty()) usable[rank] = cpus;
    }
    return usable;
}

CpusOfRanks share(const CpusOfRanks& usable, std::size_t wanted, const std::vector<Core>& cores)
{
    std::vector<pid_t> ranks;
    for (const auto& [rank, cpus] : usable) ranks.push_back(rank);
    std::ranges::stable_sort(
        ranks, [&](pid_t a, pid_t b) { return cores_with(usable.at(a), cores) < cores_with(usable.at(b), cores); });
    CpusOfRanks kept;
    CpuSet taken;
    for (const pid_t rank : ranks) {
        const CpuSet& cpus = usable.at(rank);
        std::size_t count = 0;
        for (const Core& core : cores) {
            const CpuSet its = common_cpus(core.cpus, cpus);
            if (count == wanted || its.empty() || have_common(core.cpus, taken)) continue;
            kept[rank].insert(its.begin(), its.end());
            taken.insert(core.cpus.begin(), core.cpus.end());
            ++count;
        }
        if (count < wanted)
            fail_usage(stressor, "[", keep, "=", wanted, "]: process ", rank, " of the job may use ", count,
                       count == 1 ? " core" : " cores", " that no other keeps (CPUs ", format_cpus(cpus), ")");
    }
    return kept;
}

std::size_t most_to_keep(const CpusOfRanks& usable, const std::vector<Core>& cores)
{
    std::size_t most = 0;
    try {
        while (!usable.empty() && most < cores.size()) {
            share(usable, most + 1, cores);
            ++most;
        }
    } catch (const UsageError&) {
    }
    return most;
}

}  // namespace base::job_cores
