// SPDX-License-Identifier: Apache-2.0
#include "noisegen/execution/overlap_watch.hpp"

#include "base/error.hpp"
#include "base/system/clock.hpp"

namespace noisegen {

namespace {

constexpr std::int64_t look_around_ns = 5'000'000'000;

}  // namespace

OverlapWatch::OverlapWatch(const Plan& plan) : plan_{plan}, next_ns_{base::now_ns() + look_around_ns}
{
    if (plan.request.cpu_request.smt == "no")
        for (const CpuPlacement& placement : plan.placements)
            siblings_.insert(placement.core.cpus.begin(), placement.core.cpus.end());
}

void OverlapWatch::look()
{
    if (plan_.request.cpu_request.share || base::now_ns() < next_ns_) return;
    next_ns_ = base::now_ns() + look_around_ns;
    for (const AvoidedProcess& process : avoided_processes(plan_.request.avoid, plan_.allowed))
        if (!report(process, plan_.cpus, "noise CPUs")) report(process, siblings_, "CPUs of noise cores");
}

bool OverlapWatch::report(const AvoidedProcess& process, const base::CpuSet& cpus, const char* called)
{
    const base::CpuSet both = base::common_cpus(cpus, process.cpus);
    if (both.empty()) return false;
    if (!reported_.insert(process.pid).second) return true;
    base::warn(process.name, " (", process.pid, ") may now run on ", called, " ", base::format_cpus(both));
    found_.push_back(
        {{"at_ns", base::now_ns()}, {"pid", process.pid}, {"name", process.name}, {"cpus", base::format_cpus(both)}});
    return true;
}

}  // namespace noisegen
