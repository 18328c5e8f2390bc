// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/run/victims.hpp"

#include "base/system/processes.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <map>
#include <string>

namespace crosstalk {

namespace {

// Launchers of ranks must not be stopped, since they would report each stop.
bool is_launcher(const base::Process& process)
{
    static const std::set<std::string> names{"mpirun",  "mpiexec", "mpiexec.hydra",  "orterun", "orted",
                                             "prterun", "prted",   "hydra_pmi_prox", "srun"};
    return names.contains(process.name);
}

// Programs that start another program and wait for it.
bool is_wrapper(const base::Process& process)
{
    static const std::set<std::string> names{"sh", "bash", "dash", "ksh", "zsh", "timeout", "time"};
    return names.contains(process.name);
}

}  // namespace

std::set<pid_t> victims_of(pid_t job)
{
    const std::map<pid_t, base::Process> all = base::processes();
    std::set<pid_t> victims;
    for (const pid_t pid : base::with_descendants({job}, all)) {
        const auto parent = all.find(all.at(pid).parent);
        if (!is_launcher(all.at(pid)) && parent != all.end() && is_launcher(parent->second)) victims.insert(pid);
    }
    return victims.empty() ? std::set{job} : victims;
}

std::vector<pid_t> ranks_of(pid_t job)
{
    const std::map<pid_t, base::Process> all = base::processes();
    std::multimap<pid_t, pid_t> children;
    for (const auto& [pid, process] : all) children.emplace(process.parent, pid);
    const auto behind_wrappers = [&](pid_t pid) {
        while (all.contains(pid) && is_wrapper(all.at(pid)) && children.count(pid) == 1)
            pid = children.find(pid)->second;
        return pid;
    };
    const std::set<pid_t> victims = victims_of(job);
    const auto of_rank = [&](std::size_t rank) {
        const std::string number = std::to_string(rank);
        return std::find_if(victims.begin(), victims.end(), [&](pid_t pid) {
            return base::has_variable(pid, "OMPI_COMM_WORLD_RANK", number) ||
                   base::has_variable(pid, "PMI_RANK", number) || base::has_variable(pid, "PMIX_RANK", number);
        });
    };
    std::vector<pid_t> ranks;
    for (auto found = of_rank(0); found != victims.end(); found = of_rank(ranks.size()))
        ranks.push_back(behind_wrappers(*found));
    if (!ranks.empty() || victims.size() != 1) return ranks;
    const pid_t only = behind_wrappers(*victims.begin());
    return all.contains(only) && !is_launcher(all.at(only)) ? std::vector{only} : std::vector<pid_t>{};
}

bool handle_sigterm(const std::set<pid_t>& processes)
{
    return std::all_of(processes.begin(), processes.end(), [](pid_t pid) {
        std::ifstream status{"/proc/" + std::to_string(pid) + "/status"};
        const std::string name = "SigCgt:";  // mask of handled signals; the lowest bit is signal 1
        for (std::string line; std::getline(status, line);)
            if (line.starts_with(name))
                return (std::stoull(line.substr(name.size()), nullptr, 16) >> (SIGTERM - 1) & 1U) != 0;
        return false;
    });
}

base::CpuSet bound_elsewhere(pid_t job, const base::CpuSet& given)
{
    base::CpuSet elsewhere;
    for (const pid_t pid : base::with_descendants({job}, base::processes()))
        for (const int cpu : base::affinity_of(pid))
            if (!given.contains(cpu)) elsewhere.insert(cpu);
    return elsewhere;
}

}  // namespace crosstalk
