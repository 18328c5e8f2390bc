// SPDX-License-Identifier: Apache-2.0
#include "noisegen/execution/noise_record.hpp"

#include "base/system/cgroups.hpp"

#include <nlohmann/json.hpp>

namespace noisegen {

namespace {

nlohmann::ordered_json level_record(const Schedule& schedule, const FactorLevel& level, const LevelTotal& total,
                                    const std::string& limited_by, const Facts& facts)
{
    nlohmann::ordered_json record;
    record["factor"] = level.factor;
    record["level"] = level.level;
    record["stressor"] = schedule.stressors[level.stressor].card->name;
    record["slots"] = total.slots;
    record["cpus"] = total.cpus;
    record["follows"] = format_follow(level.intensity.follow);
    const auto seconds_of_a_cpu = [&](std::int64_t ns) {
        return total.cpus == 0 ? 0.0 : static_cast<double>(ns) * 1e-9 / static_cast<double>(total.cpus);
    };
    record["on_s"] = seconds_of_a_cpu(total.on_ns);
    record["assigned_s"] = seconds_of_a_cpu(total.assigned_ns);
    record["bytes"] = total.work.bytes;
    record["operations"] = total.work.operations;
    record["requested_per_s"] = total.requested_per_s;
    record["bytes_per_s"] = total.bytes_per_s();
    record["operations_per_s"] = total.operations_per_s();
    record["requested_duty"] = total.requested_duty;
    record["duty"] = total.duty();
    record["waited_s"] = static_cast<double>(total.waited_ns) * 1e-9;
    const double share = reached(level.intensity, total);
    record["reached"] = share;
    record["limit"] = level.intensity.limit ? level.intensity.limit->text : "none";
    record["limited_by"] = limited_by;
    record["sched"] = level.intensity.sched;
    record["rate_reached"] = share >= rate_kept && share <= rate_exceeded;
    record["job_ended"] = facts.contains("job_ended");
    return record;
}

nlohmann::ordered_json stressor_record(const Configured& stressor, const std::vector<int>& cpus, const std::string& how,
                                       const std::string& not_kept, const Facts& facts)
{
    nlohmann::ordered_json record;
    record["name"] = stressor.card->name;
    record["options"] = stressor.settings.all();
    for (const std::string& name : intensity_options()) record["options"].erase(name);  // moved to the levels
    record["cpus"] = base::format_cpus({cpus.begin(), cpus.end()});
    record["how"] = how;
    record["not_kept"] = not_kept;
    for (const auto& [name, words] : facts) record[name] = words;
    return record;
}

nlohmann::ordered_json placement_record(const CpuPlacement& placement)
{
    base::CpuSet siblings = placement.core.cpus;
    siblings.erase(placement.cpu);
    return {{"cpu", placement.cpu},
            {"core", placement.core.index},
            {"socket", placement.core.package},
            {"numa_node", placement.core.numa_node},
            {"avoided", placement.avoided},
            {"siblings", base::format_cpus(siblings)},
            {"siblings_avoided", base::format_cpus(placement.busy_siblings)}};
}

void record_placement(nlohmann::ordered_json& record, const Plan& plan)
{
    record["placement"] = nlohmann::ordered_json::array();
    for (const CpuPlacement& placement : plan.placements) record["placement"].push_back(placement_record(placement));
    const CpuRequest& asked = plan.request.cpu_request;
    if (!asked.near.empty()) record["near"] = asked.near;
    if (!asked.far.empty()) record["far"] = asked.far;
    record["memory"] = plan.request.memory;
    record["scheduling_class"] = plan.request.scheduling;
    if (const auto quota = base::cpu_quota()) record["cpu_quota"] = *quota;
}

nlohmann::ordered_json pilot_record(const PilotRound& round)
{
    nlohmann::ordered_json left = nlohmann::ordered_json::array();
    for (const LeftBehind& noise : round.left)
        left.push_back({{"noise", noise.noise}, {"percent", noise.percent}, {"p", noise.p}});
    return {{"slot_ns", round.slot.count()}, {"left", left}, {"lasts", round.lasts()}};
}

nlohmann::ordered_json lateness_record(const Lateness& lateness)
{
    return {{"median", lateness.median}, {"p99", lateness.p99}, {"worst", lateness.worst}};
}

}  // namespace

void record_plan(nlohmann::ordered_json& record, const Plan& plan, const Agreement& agreement)
{
    const Request& request = plan.request;
    record["schedule"] = request.schedule.text;
    record["design"] = name(request.schedule.design);
    record["seed"] = request.seed;
    record["factors"] = request.schedule.factors();
    record["duration_ns"] = request.duration.count();
    if (agreement.slot.count() > 0) record["slot_ns"] = agreement.slot.count();
    for (const PilotRound& round : agreement.pilot) record["pilot"].push_back(pilot_record(round));
    record["cpus"] = base::format_cpus(plan.cpus);
    record["avoided_cpus"] = base::format_cpus(cpus_of(request.avoid, avoided_processes(request.avoid, plan.allowed)));
    record["shared_on_purpose"] = request.cpu_request.share;
    record_placement(record, plan);
    record["max_memory_percent"] = request.budgets.max_memory.value;
    record["max_disk_percent"] = request.budgets.max_disk.value;
    record["begin_ns"] = agreement.start_ns;
    record["exit"] = {{"reason", "running, or killed"}};
}

void record_team(nlohmann::ordered_json& record, const Plan& plan, const Team& team)
{
    const Schedule& schedule = plan.request.schedule;
    const std::vector<LevelTotal> totals = team.totals();
    const std::vector<std::string> notes = team.notes();
    const std::vector<std::string> not_kept = team.not_kept();
    record["moved"] = nlohmann::ordered_json::array();
    for (const MovedNoise& moved : team.moved())
        record["moved"].push_back({{"at_ns", moved.at_ns}, {"cpu", moved.cpu}, {"to", base::format_cpus(moved.to)}});
    record["lateness_ns"] = lateness_record(team.lateness());
    record["late_to_follow_ns"] = lateness_record(team.late_to_follow());
    record["late_to_leave_ns"] = lateness_record(team.late_to_leave());
    record["stressors"] = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < plan.runs.size(); ++i)
        record["stressors"].push_back(
            stressor_record(schedule.stressors[i], plan.runs[i], notes[i], not_kept[i], team.facts()[i]));
    record["factor_levels"] = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < totals.size(); ++i)
        record["factor_levels"].push_back(level_record(schedule, schedule.levels[i], totals[i],
                                                       team.limited_by(schedule.levels[i].intensity),
                                                       team.facts()[schedule.levels[i].stressor]));
}

}  // namespace noisegen
