#include "jobscripts/run/victims.hpp"

#include "base/system/processes.hpp"

#include <map>
#include <string>

namespace crosstalk {

namespace {

// What runs ranks for others: it is not stopped with them, or it would tell of each stop.
bool is_launcher(const base::Process& process)
{
    static const std::set<std::string> names{"mpirun",  "mpiexec", "mpiexec.hydra",  "orterun", "orted",
                                             "prterun", "prted",   "hydra_pmi_prox", "srun"};
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

base::CpuSet bound_elsewhere(pid_t job, const base::CpuSet& given)
{
    base::CpuSet elsewhere;
    for (const pid_t pid : base::with_descendants({job}, base::processes()))
        for (const int cpu : base::affinity_of(pid))
            if (!given.contains(cpu)) elsewhere.insert(cpu);
    return elsewhere;
}

}  // namespace crosstalk
