// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "base/system/cgroups.hpp"
#include "noisegen/execution/plan.hpp"
#include "noisegen/resources/gpu_budget.hpp"
#include "noisegen/resources/other_noise.hpp"
#include "noisegen/resources/rates_of_limits.hpp"

namespace noisegen {

namespace {

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
