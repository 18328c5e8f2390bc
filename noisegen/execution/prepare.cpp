// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "base/system/cgroups.hpp"
#include "base/system/launcher.hpp"
#include "base/system/processes.hpp"
#include "noisegen/execution/plan.hpp"
#include "noisegen/resources/rates_of_limits.hpp"

#include <map>
#include <vector>

#include <unistd.h>

namespace noisegen {

namespace {

// Noisegen processes bound to some of `cpus`, with which this one would share the achieved rates. Without those bound
// to all of `allowed`, which have not chosen their CPUs yet, without this process, and without processes of the same
// parent, which are ranks of the same job.
std::vector<pid_t> other_noise(const base::CpuSet& cpus, const base::CpuSet& allowed)
{
    const std::map<pid_t, base::Process> all = base::processes();
    const auto own = all.find(::getpid());
    if (own == all.end()) return {};
    const bool in_a_job = base::job_rank().size > 1;  // its ranks have the same parent
    std::vector<pid_t> others;
    for (const auto& [pid, found] : all) {
        if (pid == ::getpid() || found.name != own->second.name) continue;  // a guardian has another process name
        if (in_a_job && found.parent == own->second.parent) continue;
        const base::CpuSet bound = base::affinity_of(pid);
        const bool has_chosen = allowed.size() == 1 || !base::are_within(allowed, bound);
        const bool meets = base::have_common(bound, cpus);
        if (has_chosen && meets) others.push_back(pid);
    }
    return others;
}

void warn_of_other_noise(const Plan& plan)
{
    if (plan.request.cpu_request.share) return;
    for (const pid_t pid : other_noise(plan.cpus, plan.allowed))
        base::warn("another noisegen (", pid, ") is on these CPUs, too: neither will reach its rate");
}

// If a control group uses up its CPU quota, all its processes are stopped, including the training.
void warn_of_quota(const Plan& plan)
{
    const auto quota = base::cpu_quota();
    if (!quota || static_cast<double>(plan.cpus.size()) <= *quota) return;
    base::warn("noise on ", plan.cpus.size(), " CPUs may be throttled: the cgroup's quota is ", *quota,
               " CPUs (cpu.max)");
}

void warn_of_unbound_training(const Plan& plan)
{
    if (plan.request.cpu_request.share) return;
    const std::set<pid_t> unbound = unbound_training(plan.request.avoid, plan.allowed);
    if (unbound.empty()) return;
    base::warn("the training (process ", *unbound.begin(), unbound.size() > 1 ? " and others" : "",
               ") is not bound to CPUs and may run on the noise's: bind it (mpirun --bind-to core, srun "
               "--cpu-bind=cores, taskset)");
}

void warn_of_competition(const Plan& plan)
{
    warn_of_quota(plan);
    warn_of_other_noise(plan);
    warn_of_unbound_training(plan);
}

}  // namespace

void prepare(Plan& plan)
{
    resolve_rates(plan.request.schedule, plan.runs, plan.request.limits_file);
    for (const std::string& line : rates_beyond_windows(plan.request.schedule, plan.runs, plan.request.limits_file))
        base::warn(line);
    allow_descriptors(plan.demands);
    if (!plan.request.schedule.needs_slot()) check_designed(plan);
    warn_of_competition(plan);
}

}  // namespace noisegen
