#include "noisegen/execution/run.hpp"

#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/cgroups.hpp"
#include "base/system/clock.hpp"
#include "base/system/launcher.hpp"
#include "base/system/stop.hpp"
#include "noisegen/execution/noise_record.hpp"
#include "noisegen/execution/outcome.hpp"
#include "noisegen/execution/records.hpp"
#include "noisegen/execution/skew.hpp"
#include "noisegen/execution/supervise.hpp"
#include "noisegen/resources/node_limits.hpp"
#include "noisegen/resources/other_noise.hpp"
#include "noisegen/schedule/job_plan.hpp"
#include "noisegen/schedule/slot_length.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <optional>

namespace noisegen {

namespace fs = std::filesystem;

namespace {

constexpr base::Nanoseconds slot_without_training{1'000'000'000};
constexpr base::Nanoseconds training_patience{20'000'000'000};

base::Nanoseconds measured_slot(const fs::path& control_run)
{
    if (control_run.empty()) {
        base::warn("slot=auto: no training is named (--out or --control); taking 1s");
        return slot_without_training;
    }
    base::warn("slot=auto: measures the training's steps first, and waits up to ",
               training_patience.count() / 1'000'000'000, " s for them");
    const auto step = measure_step(control_run, base::host_name(), training_patience);
    if (!step) {
        if (!base::stop_requested())
            base::warn("slot=auto: no training moves its step counter in " + (control_run / "control").string() +
                       "; taking 1s");
        return slot_without_training;
    }
    const base::Nanoseconds slot = slot_of(*step);
    base::warn("slot=auto: a step takes " + base::format(base::Nanoseconds{step->count() / 1000 * 1000}) + ", a slot " +
               base::format(slot));
    return slot;
}

void warn_of_other_noise(const Plan& plan)
{
    if (plan.request.cpu_request.share) return;
    for (const pid_t pid : other_noise(plan.cpus, plan.allowed))
        base::warn("another noisegen (", pid, ") is on these CPUs, too: each takes from what the other is to reach");
}

// A group that has used up its CPU time is stopped as a whole, training in it included.
void warn_of_quota(const Plan& plan)
{
    const auto quota = base::cpu_quota();
    if (!quota || static_cast<double>(plan.cpus.size()) <= *quota) return;
    base::warn("noise on ", plan.cpus.size(), " CPUs may be starved: its cgroup has time for ", *quota,
               " (cpu.max), and is stopped when that is used up");
}

// The kernel's own habit is memory near the CPU: where that may not be asked for (in some containers), it does it
// anyway.
void bind_memory(const std::set<int>& nodes)
{
    try {
        base::take_memory_from(nodes);
    } catch (const std::system_error&) {
        if (!nodes.empty()) throw;
    }
}

// Effects are estimated block by block: a run of one block or less says nothing.
void warn_of_few_blocks(const Request& request)
{
    const base::Nanoseconds block = request.schedule.block_length();
    if (2 * block <= request.duration) return;
    base::warn("a block takes " + base::format(block) + ", the run " + base::format(request.duration) +
               ": an analysis needs two blocks at least; run longer, or with shorter slots");
}

// How far apart the processes of the job began their slots, once all have finished; of a job of several.
void report_skew(const Request& request, nlohmann::ordered_json& record, const fs::path& noise, int processes,
                 bool stopped)
{
    constexpr base::Nanoseconds patience{1'000'000'000};
    constexpr base::Nanoseconds patience_when_stopped{100'000'000};
    const auto skew =
        measure_skew(noise, static_cast<std::size_t>(processes), stopped ? patience_when_stopped : patience);
    if (!skew)
        return base::warn("not all processes of the job have left their records: the skew of their slots is not known");
    record["skew_ns"] = {{"processes", skew->processes},
                         {"slots", skew->slots},
                         {"median", skew->median_ns},
                         {"p99", skew->p99_ns},
                         {"worst", skew->worst_ns}};
    std::string clocks;
    if (!skew->one_clock) {
        clocks = skew->clock_error_known ? ", give or take " + base::format(base::Nanoseconds{skew->clock_error_ns}) +
                                               " between their clocks"
                                         : ", if their clocks agree: not all are synchronised";
        record["skew_ns"]["clock_error"] =
            skew->clock_error_known ? nlohmann::ordered_json(skew->clock_error_ns) : nullptr;
    }
    if (request.json) return;
    std::cout << skew->processes << " processes began their slots within "
              << base::format(base::Nanoseconds{skew->median_ns / 1000 * 1000}) << " of each other (99 of 100 within "
              << base::format(base::Nanoseconds{skew->p99_ns / 1000 * 1000}) << clocks << ")\n";
}

JobPlan plan_with_others(const fs::path& noise, const Request& request, const base::JobRank& job)
{
    constexpr base::Nanoseconds lead_alone{2'000'000};
    constexpr base::Nanoseconds lead_for_others{1'000'000'000};
    constexpr base::Nanoseconds told_wait{3'000'000'000};
    JobPlan proposal{.schedule = request.schedule.text,
                     .seed = request.seed,
                     .duration = request.duration,
                     .slot = {},
                     .start_realtime_ns = 0};
    if (request.schedule.needs_slot()) proposal.slot = measured_slot(request.control_run);
    const base::Nanoseconds lead = job.size > 1 ? lead_for_others : lead_alone;
    const std::int64_t now = base::now_ns() + base::realtime_offset_ns();
    proposal.start_realtime_ns = now + lead.count();
    const JobPlan plan = noise.empty() ? proposal : agree(noise, proposal);
    if (const std::int64_t wait = plan.start_realtime_ns - now; wait > told_wait.count())
        base::warn("waits ", wait / 1'000'000'000, " s for the start that stands in ",
                   (noise / base::file::noise_plan).string());
    return plan;
}

// One stressor all the time as fast as it goes, in one process: the sooner it begins the better. Without records the
// table is what is wanted, and its figures are those of noise that is ready.
bool at_once(const Plan& plan, const base::JobRank& job)
{
    const std::vector<FactorLevel>& levels = plan.request.schedule.levels;
    const std::vector<Slot>& table = plan.table;
    const auto is_plain = [](const Intensity& intensity) { return !intensity.asks() && intensity.follow.empty(); };
    return job.size == 1 && !plan.request.out.empty() && !levels.empty() && is_plain(levels.front().intensity) &&
           std::all_of(table.begin(), table.end(), [](const Slot& slot) { return slot.treatment == Treatment{0}; });
}

void start(Team& team, std::optional<Records>& kept, const Plan& plan, std::int64_t start_ns)
{
    if (!kept) return team.start(plan.table, start_ns, {});
    Records& records = *kept;
    team.start(
        plan.table, start_ns,
        {.on_slot = [&](auto cpu, const SlotDone& done) { records.slot(cpu, done); },
         .on_sample = [&](auto cpu, const SlotDone& done, const Sample& sample) { records.sample(cpu, done, sample); },
         .on_followed = [&](auto cpu, const SlotDone& done, bool on, auto at) { records.followed(cpu, done, on, at); },
         .on_stopped = [&](auto cpu, const SlotDone& done, auto from,
                           auto until) { records.stopped(cpu, done, from, until); }});
}

Team::Setup team_setup(const Plan& plan, const std::vector<int>& cpus, const fs::path& noise, const base::JobRank& job)
{
    return {.cpus = cpus,
            .runs = plan.runs,
            .control_run = plan.request.control_run,
            .victims = plan.request.victims,
            .noise = noise,
            .job = job,
            .seed = plan.request.seed,
            .scheduling = plan.request.scheduling,
            .at_once = at_once(plan, job)};
}

// The schedule's start on CLOCK_MONOTONIC, once all processes of the job agree on it and on the length of slots.
std::int64_t agreed_start(Plan& plan, nlohmann::ordered_json& record, const fs::path& noise, const base::JobRank& job)
{
    const JobPlan agreed = plan_with_others(noise, plan.request, job);
    if (plan.request.schedule.needs_slot()) {
        set_slot(plan, agreed.slot);
        check_designed(plan);
    }
    if (job.rank == 0) warn_of_few_blocks(plan.request);
    const std::int64_t start_ns = agreed.start_realtime_ns - base::realtime_offset_ns();
    record_plan(record, plan, agreed.slot, start_ns);
    return start_ns;
}

void record_end(nlohmann::ordered_json& record, std::int64_t ended_ns, const std::string& reason, int code)
{
    record["end_ns"] = ended_ns;
    record["realtime_minus_monotonic_end_ns"] = base::realtime_offset_ns();
    record["realtime_error_ns"] = nullptr;
    if (const auto error = base::realtime_error_ns()) record["realtime_error_ns"] = *error;
    record["exit"] = {{"reason", reason}, {"code", code}};
}

}  // namespace

int run(Plan plan, nlohmann::ordered_json record)
{
    const Request& request = plan.request;
    const Schedule& schedule = request.schedule;
    const base::JobRank job = base::job_rank();
    const std::vector<int> cpus{plan.cpus.begin(), plan.cpus.end()};
    resolve_rates(plan.request.schedule, plan.runs, request.limits_file);
    warn_of_quota(plan);
    allow_descriptors(plan.demands);
    if (!schedule.needs_slot()) check_designed(plan);
    const bool recorded = !request.out.empty();
    const fs::path noise = recorded ? request.out / base::part::noise : fs::path{};
    std::optional<base::ClaimedPart> claimed;
    if (recorded)
        claimed.emplace(request.out, fs::path{base::part::noise} / base::join(base::host_name(), ".", job.rank));
    const auto write_record = [&] {
        if (claimed) base::write_whole(claimed->path() / base::file::noise_record, record.dump(2) + "\n");
    };

    // Threads of MPI and of this program stay off the training's CPUs too.
    warn_of_other_noise(plan);
    base::bind_this_thread(plan.cpus);
    bind_memory(plan.memory_nodes);
    std::optional<Records> records;
    if (claimed) records.emplace(claimed->path(), schedule, request.seed, cpus);
    Team team{schedule, team_setup(plan, cpus, noise, job)};
    const std::int64_t start_ns = agreed_start(plan, record, noise, job);
    write_record();

    OverlapWatch watch{plan};
    TrainingWatch training{request.control_run, base::host_name(), needs_training(request), base::now_ns()};
    if (claimed) claimed->keep();
    const std::int64_t joined_ns = base::now_ns();
    start(team, records, plan, start_ns);
    const std::string reason = supervise(plan, start_ns, team, watch, training);
    const std::int64_t ended_ns = std::min(base::now_ns(), start_ns + plan.table.back().end.count());
    std::exception_ptr failure;
    try {
        team.stop();
    } catch (...) {  // what was recorded until then is kept
        failure = std::current_exception();
    }
    if (records) records->finish(plan.table, start_ns, joined_ns, ended_ns);

    const int kept = judge(schedule, team.totals());
    const int code = failure ? base::exit_failed : reason == "overlap" ? base::exit_promise_not_kept : kept;
    record["joined_late"] = joined_ns > start_ns;
    record_team(record, plan, team);
    record["overlaps"] = watch.found();
    record_end(record, ended_ns, reason, code);
    write_record();
    if (failure) std::rethrow_exception(failure);
    if (job.rank != 0) return code;
    if (job.size > 1) {
        report_skew(request, record, noise, job.size, reason != "duration");
        write_record();
    }
    if (request.json)
        std::cout << record.dump(2) << "\n";
    else
        print(std::cout, schedule, team.totals());
    return code;
}

}  // namespace noisegen
