// SPDX-License-Identifier: Apache-2.0
#include "noisegen/execution/plan.hpp"

#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/system/launcher.hpp"
#include "noisegen/resources/gpu_budget.hpp"
#include "noisegen/schedule/designed.hpp"

#include <algorithm>

namespace noisegen {

namespace {

void place(Plan& plan)
{
    const Machine machine = this_machine(plan.allowed, plan.request.avoid);
    plan.cpus = choose_cpus(plan.request.cpu_request, machine);
    if (leaves_a_core(plan.request.cpu_request, machine))
        base::warn("no busy process is known: noise on CPUs ", base::format_cpus(plan.cpus),
                   "; other CPUs stay free (--cpus, --avoid)");
    plan.placements = placements(plan.cpus, machine);
    plan.runs = divide(plan.request.schedule, base::physical_cores(plan.cpus));
}

}  // namespace

bool needs_training(const Request& request)
{
    const Schedule& schedule = request.schedule;
    const auto asks = [&](const Configured& stressor) {
        const bool acts = stressor.card->acts_on_the_job;
        return acts ? request.victims.empty() : base::is_control(stressor.card->role);
    };
    const auto follows = [](const FactorLevel& level) { return !level.intensity.follow.empty(); };
    return std::ranges::any_of(schedule.stressors, asks) || std::ranges::any_of(schedule.levels, follows);
}

Plan plan(Request request, bool placed)
{
    Plan plan;
    plan.request = std::move(request);
    plan.allowed = base::allowed_cpus();
    const Schedule& schedule = plan.request.schedule;
    plan.memory_nodes = parse_memory(plan.request.memory);
    if (placed)
        place(plan);
    else
        plan.runs.assign(schedule.stressors.size(), {0});
    plan.demands = demands(schedule, plan.runs);
    check_demands(plan.demands, plan.request.budgets);
    check_gpus(plan.demands, plan.request.control_run);
    if (!schedule.needs_slot()) plan.table = slot_table(schedule, plan.request.seed, plan.request.duration);
    return plan;
}

void set_slot(Plan& plan, base::Nanoseconds slot)
{
    plan.request.schedule.set_slot(slot);
    plan.table = slot_table(plan.request.schedule, plan.request.seed, plan.request.duration);
}

void check_designed(const Plan& plan)
{
    const Request& request = plan.request;
    const bool beside = !request.out.empty() && std::filesystem::exists(request.out / base::part::train);
    if (!request.designed && !beside) return;
    // A run with constant noise is one of a set for `interference compare`.
    if (!request.designed && is_constant(request.schedule))
        return base::warn("constant noise: for interference compare, not for interference analyse");
    const std::string why = why_no_report(request.schedule, plan.table);
    if (!why.empty()) base::fail_usage("interference could not report on this run: ", why);
    const std::string missing = missing_controls(request.schedule);
    if (!missing.empty() && base::job_rank().rank == 0)
        base::warn("there is no " + missing + " in the schedule: interference will call the report not trustworthy");
}

}  // namespace noisegen
