// SPDX-License-Identifier: Apache-2.0
#include "noisegen/execution/run.hpp"

#include "base/contract/run_directory.hpp"
#include "base/contract/run_record.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/system/clock.hpp"
#include "base/system/launcher.hpp"
#include "noisegen/execution/agreement.hpp"
#include "noisegen/execution/noise_record.hpp"
#include "noisegen/execution/outcome.hpp"
#include "noisegen/execution/records.hpp"
#include "noisegen/execution/skew.hpp"
#include "noisegen/execution/supervise.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <optional>

namespace noisegen {

namespace fs = std::filesystem;

namespace {

// Prefers memory near the CPU. Where the policy must not be set (in some containers), the kernel does this by default.
void bind_memory(const std::set<int>& nodes)
{
    try {
        base::take_memory_from(nodes);
    } catch (const std::system_error&) {
        if (!nodes.empty()) throw;
    }
}

// A single stressor without a rate in one process may start before its buffers are ready. This is not done without
// --out, since the printed rates must exclude start-up.
bool at_once(const Plan& plan, const base::JobRank& job)
{
    const std::vector<FactorLevel>& levels = plan.request.schedule.levels;
    const std::vector<Slot>& table = plan.table;
    const auto is_plain = [](const Intensity& intensity) { return !intensity.asks() && intensity.follow.empty(); };
    return job.size == 1 && !plan.request.out.empty() && !levels.empty() && is_plain(levels.front().intensity) &&
           !table.empty() &&
           std::ranges::all_of(table, [](const Slot& slot) { return slot.treatment == Treatment{0}; });
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

void record_end(nlohmann::ordered_json& record, std::int64_t ended_ns, const std::string& reason, int code)
{
    record["end_ns"] = ended_ns;
    record["machine_end"] = base::machine_state();
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
    const bool recorded = !request.out.empty();
    const fs::path noise = recorded ? request.out / base::part::noise : fs::path{};
    const base::MadeDirectories made{noise};
    std::optional<base::ClaimedPart> claimed;
    if (recorded)
        claimed.emplace(request.out, fs::path{base::part::noise} / base::join(base::host_name(), ".", job.rank));
    prepare(plan);
    const auto write_record = [&] {
        if (claimed) base::write_whole(claimed->path() / base::file::noise_record, base::json_text(record) + "\n");
    };

    // Keeps threads of MPI and of this program off the training's CPUs, too.
    base::bind_this_thread(plan.cpus);
    bind_memory(plan.memory_nodes);
    std::optional<Records> records;
    if (claimed) records.emplace(claimed->path(), schedule, request.seed, cpus);
    Team team{schedule, team_setup(plan, cpus, noise, job)};
    const Agreement agreement = agree_with_others(plan, team, noise, job);
    const std::int64_t start_ns = agreement.start_ns;
    record_plan(record, plan, agreement);
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
    } catch (...) {  // keeps what was recorded so far
        failure = std::current_exception();
    }
    if (records) records->finish(plan.table, start_ns, joined_ns, ended_ns);

    warn_of_moved_noise(team);
    const int kept = judge(schedule, team);
    const int code = failure ? base::exit_failed : reason == "overlap" ? base::exit_promise_not_kept : kept;
    record["joined_late"] = joined_ns > start_ns;
    record_team(record, plan, team);
    record["overlaps"] = watch.found();
    record_end(record, ended_ns, reason, code);
    write_record();
    if (failure) std::rethrow_exception(failure);
    if (job.rank != 0) return code;
    if (job.size > 1) {
        report_skew(noise, static_cast<std::size_t>(job.size), reason != "duration", record,
                    request.json ? nullptr : &std::cout);
        write_record();
    }
    if (request.json)
        std::cout << base::json_text(record) << "\n";
    else
        print(std::cout, schedule, team.totals());
    return code;
}

}  // namespace noisegen
