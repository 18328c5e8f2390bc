// SPDX-License-Identifier: Apache-2.0
#include "noisegen/measure/probe_run.hpp"

#include "base/cli/progress.hpp"
#include "base/contract/run_record.hpp"
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "noisegen/execution/measured_run.hpp"
#include "noisegen/resources/placement.hpp"
#include "noisegen/resources/rates_of_limits.hpp"
#include "noisegen/schedule/parser.hpp"
#include "noisegen/stressors/job/job_keeper.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace noisegen {

namespace {

// Drops the block in which the program was asked to stop.
void keep_whole_blocks(ProbeRun& run, std::int64_t last_ns)
{
    std::uint64_t whole = 0;
    for (const Slot& slot : run.table)
        if (run.start_ns + slot.end.count() <= last_ns) whole = slot.block;
    std::erase_if(run.table, [&](const Slot& slot) { return slot.block >= whole; });
    run.blocks = static_cast<std::size_t>(whole);
}

void warn_of_shared_core(const Probe& probe)
{
    base::CpuSet all = probe.cpus;
    all.insert(probe.victim);
    for (const base::Core& core : base::physical_cores(all))
        if (core.cpus.contains(probe.victim) && core.cpus.size() > 1)
            base::warn("the victim shares its core with noise (CPUs " + base::format_cpus(core.cpus) + ")");
}

// Checks memory before noise or victim has taken any of it. Disks are checked when noise begins.
void check_memory_together(std::vector<Demand> noise, const Victim::Setup& setup, const Budgets& budgets)
{
    for (Demand& demand : noise) demand.needs.directory.clear();
    Needs victim;
    victim.memory = Victim::memory(setup);
    noise.push_back({.stressor = "the victim", .needs = victim, .instances = 1});
    check_demands(noise, budgets);
}

}  // namespace

double ProbeRun::noise_waited() const
{
    double on_ns = 0.0;
    double waited_ns = 0.0;
    for (const LevelTotal& total : levels) {
        on_ns += static_cast<double>(total.busy_ns);
        waited_ns += static_cast<double>(total.waited_ns);
    }
    return on_ns == 0.0 ? 0.0 : waited_ns / on_ns;
}

bool ProbeRun::a_job_ended() const
{
    return std::ranges::any_of(notes,
                               [](const std::string& note) { return note.find(job_has_ended) != std::string::npos; });
}

Schedule probe_schedule(const Probe& probe, const std::vector<std::string>& stressors)
{
    constexpr base::Nanoseconds shortest{50'000'000};
    constexpr base::Nanoseconds longest = std::chrono::hours{1};
    if (probe.slot < shortest || probe.slot > longest)
        base::fail_usage("--slot must be 50ms to 1h, not ", base::format(probe.slot),
                         "; it must hold some of the victim's measurements");
    Schedule schedule = rotation_of(stressors, probe.slot);
    if (probe.blocks < 2 || probe.blocks > 100'000)
        base::fail_usage("--blocks must be 2 to 100000, not ", probe.blocks, "; an interval needs at least two");
    constexpr base::Nanoseconds year = std::chrono::hours{24 * 366};
    if (schedule.block_length() > year / probe.blocks)
        base::fail_usage("--blocks: ", probe.blocks, " blocks of ", base::format(schedule.block_length()),
                         " are more than a year");
    return schedule;
}

void check_probe(const Probe& probe, Schedule& schedule, const Victim::Setup& setup, bool warns)
{
    const std::vector<std::vector<int>> runs = divide(schedule, base::physical_cores(probe.cpus));
    resolve_rates(schedule, runs, probe.limits_file);
    check_memory_together(demands(schedule, runs), setup, probe.budgets);
    if (warns) warn_of_shared_core(probe);
}

ProbeRun run_noise(const Probe& probe, const Schedule& schedule, const std::string& what,
                   const std::function<void()>& start_victim)
{
    base::bind_this_thread(probe.cpus);
    ProbeRun measured;
    measured.table = slot_table(schedule, probe.seed, schedule.block_length() * probe.blocks);
    measured.levels.resize(schedule.levels.size());
    base::Progress progress{"noisegen probe"};
    const bool complete =
        run({.schedule = schedule,
             .cpus = probe.cpus,
             .budgets = probe.budgets,
             .table = measured.table,
             .on_slot =
                 [&](std::size_t, const SlotDone& done) {
                     if (!done.level) return;
                     add(measured.levels[*done.level], done.sample);
                     measured.levels[*done.level].cpus = probe.cpus.size();
                 },
             .on_start =
                 [&](std::int64_t start_ns) {
                     measured.start_ns = start_ns;
                     start_victim();
                 },
             .progress =
                 [&](double share) {
                     const auto block =
                         static_cast<std::int64_t>(std::max(0.0, share) * static_cast<double>(probe.blocks));
                     progress.show(share, base::join(what, what.empty() ? "" : ", ", "block ",
                                                     std::min(block + 1, probe.blocks), " of ", probe.blocks));
                 },
             .on_notes = [&](const std::vector<std::string>& notes) { measured.notes = notes; }});
    if (complete)
        measured.blocks = static_cast<std::size_t>(probe.blocks);
    else
        keep_whole_blocks(measured, base::now_ns());
    return measured;
}

ProbeRun run_probe(const Probe& probe, const Schedule& schedule, const Victim::Setup& setup)
{
    Victim victim{setup};
    ProbeRun measured = run_noise(probe, schedule, "", [&victim] { victim.start(); });
    measured.slices = victim.stop();
    return measured;
}

nlohmann::ordered_json probe_record(const Probe& probe, const Schedule& schedule, const Victim::Setup& setup)
{
    nlohmann::ordered_json record = base::run_record("noisegen probe");
    record["schedule"] = schedule.text;
    record["seed"] = probe.seed;
    record["slot_ns"] = probe.slot.count();
    record["victim_cpu"] = probe.victim;
    record["victim_array_bytes"] = setup.array.count;
    record["victim_cached_bytes"] = setup.cached.count;
    record["noise_cpus"] = base::format_cpus(probe.cpus);
    return record;
}

}  // namespace noisegen
