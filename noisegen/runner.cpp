#include "noisegen/runner.hpp"

#include "base/cgroups.hpp"
#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/progress.hpp"
#include "base/run_record.hpp"
#include "base/stop.hpp"
#include "noisegen/chip_length.hpp"
#include "noisegen/chip_table.hpp"
#include "noisegen/designed.hpp"
#include "noisegen/figures.hpp"
#include "noisegen/job_plan.hpp"
#include "noisegen/limits_file.hpp"
#include "noisegen/other_noise.hpp"
#include "noisegen/records.hpp"
#include "noisegen/skew.hpp"
#include "noisegen/team.hpp"
#include "noisegen/training_watch.hpp"

#include <algorithm>
#include <cstring>
#include <iostream>

#include <unistd.h>

namespace noisegen {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t tick_ns = 500'000'000;              // without news
constexpr std::int64_t tick_on_terminal_ns = 100'000'000;  // of the status line
constexpr std::int64_t look_around_ns = 5'000'000'000;
constexpr base::Nanoseconds chip_without_training{1'000'000'000};
constexpr base::Nanoseconds training_patience{20'000'000'000};

void note(const std::string& text)
{
    std::cerr << "noisegen: " + text + "\n";
}

std::string dose_text(const Dose& dose)
{
    return dose.level.empty() ? dose.factor : dose.factor + "[" + dose.level + "]";
}

// "rate of 4GiB/s", "duty of 30%".
std::string asked_text(const Intensity& asked)
{
    return asked.rate ? "rate of " + base::format(*asked.rate) : "duty of " + base::format(asked.duty);
}

std::string rate_text(double per_second, base::Rate::Of of)
{
    return base::format(base::Rate{std::round(per_second), of});
}

base::Nanoseconds measured_chip(const fs::path& control_run)
{
    note(base::join("chip=auto: measures the training's steps first, and waits up to ",
                    training_patience.count() / 1'000'000'000, " s for them"));
    const auto step = measure_step(control_run, base::host_name(), training_patience);
    if (!step) {
        if (!base::stop_requested())
            note("chip=auto: no training moves its step counter in " + (control_run / "control").string() +
                 "; taking 1s");
        return chip_without_training;
    }
    const base::Nanoseconds chip = chip_of(*step);
    note("chip=auto: a step takes " + base::format(base::Nanoseconds{step->count() / 1000 * 1000}) + ", a chip " +
         base::format(chip));
    return chip;
}

// Processes that came to a noise CPU, or to its core, after the start; each is told once.
class Watch {
 public:
    Watch(const Request& request, base::CpuSet allowed)
        : avoid_{request.avoid},
          cpus_{request.cpus},
          allowed_{std::move(allowed)},
          off_{request.wish.share},
          next_ns_{base::now_ns() + look_around_ns}
    {
        if (request.wish.smt == "no")
            for (const Seat& seat : request.seats) siblings_.insert(seat.core.cpus.begin(), seat.core.cpus.end());
    }

    void look()
    {
        if (off_ || base::now_ns() < next_ns_) return;
        next_ns_ = base::now_ns() + look_around_ns;
        for (const Neighbour& neighbour : neighbours(avoid_, allowed_))
            if (!tell(neighbour, cpus_, "noise CPUs")) tell(neighbour, siblings_, "CPUs of noise cores");
    }

    const nlohmann::ordered_json& found() const { return found_; }

 private:
    bool tell(const Neighbour& neighbour, const base::CpuSet& cpus, const char* called)
    {
        base::CpuSet both;
        std::set_intersection(cpus.begin(), cpus.end(), neighbour.cpus.begin(), neighbour.cpus.end(),
                              std::inserter(both, both.end()));
        if (both.empty()) return false;
        if (!told_.insert(neighbour.pid).second) return true;
        note(
            base::join(neighbour.name, " (", neighbour.pid, ") may now run on ", called, " ", base::format_cpus(both)));
        found_.push_back({{"at_ns", base::now_ns()},
                          {"pid", neighbour.pid},
                          {"name", neighbour.name},
                          {"cpus", base::format_cpus(both)}});
        return true;
    }

    const Avoid& avoid_;
    const base::CpuSet& cpus_;
    base::CpuSet siblings_;
    base::CpuSet allowed_;
    bool off_;
    std::int64_t next_ns_;
    std::set<pid_t> told_;
    nlohmann::ordered_json found_ = nlohmann::ordered_json::array();
};

const Chip& chip_at(const std::vector<Chip>& table, base::Nanoseconds at)
{
    const auto after = std::upper_bound(table.begin(), table.end(), at,
                                        [](base::Nanoseconds time, const Chip& chip) { return time < chip.begin; });
    return after == table.begin() ? table.front() : *std::prev(after);
}

// "3.2 GB/s (asked for 4GB/s)" for what is on, over the time since the last call.
class Status {
 public:
    explicit Status(const Schedule& schedule) : schedule_{schedule} {}

    std::string text(const Chip& chip, std::uint64_t bytes)
    {
        const std::int64_t now = base::now_ns();
        const double speed = static_cast<double>(bytes - last_bytes_) * 1e9 / static_cast<double>(now - last_ns_);
        last_ns_ = now;
        last_bytes_ = bytes;
        std::string line = base::join("block ", chip.block, ", ", noisegen::text(schedule_, chip.treatment));
        if (speed > 0.0) line += ", " + speed_text(speed);
        if (chip.treatment.size() == 1)
            if (const auto& asked = schedule_.doses[chip.treatment.front()].intensity; asked.rate)
                line += " (asked for " + base::format(*asked.rate) + ")";
        return line;
    }

 private:
    const Schedule& schedule_;
    std::int64_t last_ns_ = base::now_ns();
    std::uint64_t last_bytes_ = 0;
};

bool needs_training(const Schedule& schedule, const std::set<pid_t>& victims)
{
    const auto asks = [&](const Configured& stressor) {
        const bool knows_whom = stressor.card->name == "control.pause" && !victims.empty();
        return stressor.card->name.starts_with("control.") && !knows_whom;
    };
    const auto follows = [](const Dose& dose) { return !dose.intensity.follow.empty(); };
    return std::any_of(schedule.stressors.begin(), schedule.stressors.end(), asks) ||
           std::any_of(schedule.doses.begin(), schedule.doses.end(), follows);
}

void warn_of_other_noise(const Request& request, const base::CpuSet& allowed)
{
    if (request.wish.share) return;
    for (const pid_t pid : other_noise(request.cpus, allowed))
        note(base::join("another noisegen (", pid,
                        ") is on these CPUs, too: each takes from what the other is to reach"));
}

// Until the table's end or a reason to stop; returns the reason.
std::string supervise(const Request& request, const std::vector<Chip>& table, std::int64_t start_ns, Team& team,
                      Watch& watch, TrainingWatch& training)
{
    const Schedule& schedule = request.schedule;
    const bool speaks = base::job_rank().rank == 0;
    const pid_t parent = ::getppid();
    const std::int64_t tick = speaks && ::isatty(STDERR_FILENO) == 1 ? tick_on_terminal_ns : tick_ns;
    base::Progress progress{"noisegen"};
    Status status{schedule};
    std::string reason;
    while (reason.empty()) {
        for (const auto& [dose, share] : team.newly_short())
            note(base::join(dose_text(schedule.doses[dose]), " does not reach its ",
                            asked_text(schedule.doses[dose].intensity), ": ", std::round(share * 100.0), "% of it"));
        if (speaks && progress.due()) {
            const base::Nanoseconds at{std::max<std::int64_t>(0, base::now_ns() - start_ns)};
            progress.show(base::seconds(at) / base::seconds(request.duration),
                          status.text(chip_at(table, at), team.bytes()));
        }
        watch.look();
        if (const auto news = training.news(base::now_ns())) note(*news);
        if (team.failed())
            reason = "failure";
        else if (request.on_overlap == "stop" && !watch.found().empty())
            reason = "overlap";
        else if (::getppid() != parent)
            reason = "parent died";
        else if (base::stop_requested())
            reason =
                base::stop_signal() == 0 ? "parent died" : std::string{"signal "} + ::strsignal(base::stop_signal());
        else if (team.done())
            reason = "duration";
        else
            team.wait_for_news(base::now_ns() + tick, base::stop_descriptor());
    }
    return reason;
}

nlohmann::ordered_json dose_record(const Schedule& schedule, const Dose& dose, const DoseTotal& total)
{
    nlohmann::ordered_json record;
    record["factor"] = dose.factor;
    record["level"] = dose.level;
    record["stressor"] = schedule.stressors[dose.stressor].card->name;
    record["phases"] = total.phases;
    record["cpus"] = total.cpus;
    record["follows"] = format_follow(dose.intensity.follow);
    record["on_s"] = total.cpus == 0 ? 0.0 : static_cast<double>(total.on_ns) * 1e-9 / static_cast<double>(total.cpus);
    record["requested_per_s"] = total.requested_per_s;
    record["bytes_per_s"] = total.bytes_per_s();
    record["operations_per_s"] = total.operations_per_s();
    record["requested_duty"] = total.requested_duty;
    record["duty"] = total.duty();
    record["waited_s"] = static_cast<double>(total.waited_ns) * 1e-9;
    const double share = reached(dose.intensity, total);
    record["reached"] = share;
    record["rate_reached"] = share >= rate_kept && share <= rate_exceeded;
    return record;
}

nlohmann::ordered_json stressor_record(const Configured& stressor, const std::vector<int>& cpus, const std::string& how)
{
    nlohmann::ordered_json record;
    record["name"] = stressor.card->name;
    record["options"] = stressor.settings.all();
    for (const std::string& name : intensity_options()) record["options"].erase(name);  // told with the doses
    record["cpus"] = base::format_cpus({cpus.begin(), cpus.end()});
    record["how"] = how;
    return record;
}

void print(std::ostream& out, const Schedule& schedule, const std::vector<DoseTotal>& totals)
{
    for (std::size_t i = 0; i < totals.size(); ++i) {
        const Dose& dose = schedule.doses[i];
        const DoseTotal& total = totals[i];
        out << dose_text(dose) << ": " << total.phases << (total.phases == 1 ? " phase" : " phases");
        if (total.work.bytes > 0) out << ", " << speed_text(total.bytes_per_s());
        if (total.work.operations > 0)
            out << ", " << base::format(std::round(total.operations_per_s())) << " operations/s";
        if (dose.intensity.rate) out << " (asked for " << base::format(*dose.intensity.rate) << ")";
        if (dose.intensity.duty.value < 100.0)
            out << ", on " << base::format(base::Percent{std::round(total.duty() * 1e4) / 100.0})
                << " of the time (asked for " << base::format(dose.intensity.duty) << ")";
        if (!dose.intensity.follow.empty())
            out << ", on " << base::format(base::Percent{std::round(total.duty() * 1e4) / 100.0}) << " of the time (in "
                << format_follow(dose.intensity.follow) << ")";
        out << "\n";
    }
}

nlohmann::ordered_json seat_record(const Seat& seat)
{
    base::CpuSet siblings = seat.core.cpus;
    siblings.erase(seat.cpu);
    return {{"cpu", seat.cpu},
            {"core", seat.core.index},
            {"socket", seat.core.package},
            {"numa_node", seat.core.numa_node},
            {"avoided", seat.avoided},
            {"siblings", base::format_cpus(siblings)},
            {"siblings_avoided", base::format_cpus(seat.busy_siblings)}};
}

void record_placement(nlohmann::ordered_json& record, const Request& request)
{
    record["placement"] = nlohmann::ordered_json::array();
    for (const Seat& seat : request.seats) record["placement"].push_back(seat_record(seat));
    record["memory"] = request.memory;
    record["scheduling_class"] = request.scheduling;
    if (const auto quota = base::cpu_quota()) record["cpu_quota"] = *quota;
}

// What is fixed before noise begins.
void record_plan(nlohmann::ordered_json& record, const Request& request, const base::CpuSet& allowed,
                 const JobPlan& plan, std::int64_t start_ns)
{
    record["schedule"] = request.schedule.text;
    record["design"] = name(request.schedule.design);
    record["seed"] = request.seed;
    record["factors"] = request.schedule.factors();
    record["duration_ns"] = request.duration.count();
    if (plan.chip.count() > 0) record["chip_ns"] = plan.chip.count();
    record["cpus"] = base::format_cpus(request.cpus);
    record["avoided_cpus"] = base::format_cpus(cpus_of(request.avoid, neighbours(request.avoid, allowed)));
    record["shared_on_purpose"] = request.wish.share;
    record_placement(record, request);
    record["max_memory_percent"] = request.limits.max_memory.value;
    record["max_disk_percent"] = request.limits.max_disk.value;
    record["begin_ns"] = start_ns;
    record["exit"] = {{"reason", "running, or killed"}};
}

nlohmann::ordered_json lateness_record(const Lateness& lateness)
{
    return {{"median", lateness.median}, {"p99", lateness.p99}, {"worst", lateness.worst}};
}

// What the team did; of a team that has stopped.
void record_team(nlohmann::ordered_json& record, const Schedule& schedule, const std::vector<std::vector<int>>& runs,
                 const Team& team)
{
    const std::vector<DoseTotal> totals = team.totals();
    const std::vector<std::string> notes = team.notes();
    record["lateness_ns"] = lateness_record(team.lateness());
    record["late_to_follow_ns"] = lateness_record(team.late_to_follow());
    record["late_to_leave_ns"] = lateness_record(team.late_to_leave());
    record["stressors"] = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < runs.size(); ++i)
        record["stressors"].push_back(stressor_record(schedule.stressors[i], runs[i], notes[i]));
    record["doses"] = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < totals.size(); ++i)
        record["doses"].push_back(dose_record(schedule, schedule.doses[i], totals[i]));
}

constexpr std::int64_t long_enough_ns = 1'000'000'000;  // to expect something

// Such as messages to a host that takes none.
bool did_nothing(const Configured& stressor, const DoseTotal& total)
{
    return stressor.card->counts_bytes && total.on_ns > long_enough_ns && total.work.bytes == 0;
}

// Asks that no training answered, or pauses of nobody: each step that looks, and each pause, counts as an operation.
bool asked_nobody(const Configured& stressor, const DoseTotal& total)
{
    return stressor.card->name.starts_with("control.") && total.on_ns > long_enough_ns && total.work.operations == 0 &&
           base::local_rank().rank == 0;
}

// The exit code, and on stderr why.
int judge(const Schedule& schedule, const std::vector<DoseTotal>& totals)
{
    int code = base::exit_fine;
    for (std::size_t i = 0; i < totals.size(); ++i) {
        const Dose& dose = schedule.doses[i];
        const double share = reached(dose.intensity, totals[i]);
        if (totals[i].phases == 0) continue;
        if (asked_nobody(schedule.stressors[dose.stressor], totals[i]))
            note(dose_text(dose) + " was on, but no training noticed it: the control was not connected");
        else if (!dose.intensity.follow.empty() && totals[i].busy_ns == 0)
            note(base::join(dose_text(dose), " follows ", format_follow(dose.intensity.follow),
                            ", but no training came to that phase on this node (--control names the training's run)"));
        else if (did_nothing(schedule.stressors[dose.stressor], totals[i]))
            note(base::join(dose_text(dose), " was on, but did nothing"));
        else if (share < rate_kept || share > rate_exceeded)
            note(base::join(dose.intensity.rate ? "rate " : "duty ", share < rate_kept ? "not reached: " : "exceeded: ",
                            dose_text(dose), " had ", std::round(share * 100.0), "% of ",
                            dose.intensity.rate ? rate_text(totals[i].requested_per_s, dose.intensity.rate->of)
                                                : base::format(dose.intensity.duty)));
        else
            continue;
        code = base::exit_promise_not_kept;
    }
    return code;
}

// A group that has used up its CPU time is stopped as a whole, training in it included.
void warn_of_quota(const Request& request)
{
    const auto quota = base::cpu_quota();
    if (!quota || static_cast<double>(request.cpus.size()) <= *quota) return;
    note(base::join("noise on ", request.cpus.size(), " CPUs may be starved: its cgroup has time for ", *quota,
                    " (cpu.max), and is stopped when that is used up"));
}

// The kernel's own habit is memory near the CPU: where it may not be told so (in some containers), it does that anyway.
void bind_memory(const std::set<int>& nodes)
{
    try {
        base::take_memory_from(nodes);
    } catch (const std::system_error&) {
        if (!nodes.empty()) throw;
    }
}

// Noise beside a training is there to be analysed: nobody should wait for the training's end to read that it cannot be.
// Noise that never changes is one of a set for `interference compare`.
void check_designed(const Request& request, const std::vector<Chip>& table)
{
    const bool beside = fs::exists(request.out / "train");
    if (!request.designed && !beside) return;
    if (!request.designed && is_constant(request.schedule))
        return note("the same all the time: a run for interference compare, not for interference analyse");
    const std::string why = why_no_report(request.schedule, table);
    if (!why.empty()) base::fail_usage("interference could make no report of this run: ", why);
    const std::string missing = missing_controls(request.schedule);
    if (!missing.empty() && base::job_rank().rank == 0)
        note("there is no " + missing + " in the schedule: interference will call the run not trustworthy");
}

// Effects are estimated block by block: a run of one block or less says nothing.
void warn_of_few_blocks(const Request& request)
{
    const base::Nanoseconds block = request.schedule.block_length();
    if (2 * block <= request.duration) return;
    note("a block takes " + base::format(block) + ", the run " + base::format(request.duration) +
         ": an analysis needs two blocks at least; run longer, or with shorter chips");
}

// How far apart the processes of the job began their chips, once all have finished; of a job of several.
void report_skew(const Request& request, nlohmann::ordered_json& record, const fs::path& noise, int processes,
                 bool stopped)
{
    constexpr base::Nanoseconds patience{1'000'000'000};
    constexpr base::Nanoseconds patience_when_stopped{100'000'000};
    const auto skew =
        measure_skew(noise, static_cast<std::size_t>(processes), stopped ? patience_when_stopped : patience);
    if (!skew)
        return note("not all processes of the job have left their records: the skew of their chips is not known");
    record["skew_ns"] = {{"processes", skew->processes},
                         {"chips", skew->chips},
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
    std::cout << skew->processes << " processes began their chips within "
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
                     .chip = {},
                     .start_realtime_ns = 0};
    if (request.schedule.needs_chip()) proposal.chip = measured_chip(request.control_run);
    const base::Nanoseconds lead = job.size > 1 ? lead_for_others : lead_alone;
    const std::int64_t now = base::now_ns() + base::realtime_offset_ns();
    proposal.start_realtime_ns = now + lead.count();
    const JobPlan plan = agree(noise, proposal);
    if (const std::int64_t wait = plan.start_realtime_ns - now; wait > told_wait.count())
        note(base::join("waits ", wait / 1'000'000'000, " s for the start that stands in ",
                        (noise / "plan.json").string()));
    return plan;
}

// One stressor all the time as fast as it goes, in one process: the sooner it begins the better.
bool at_once(const Request& request, const base::JobRank& job, const std::vector<Chip>& table)
{
    const auto is_plain = [](const Intensity& intensity) { return !intensity.asks() && intensity.follow.empty(); };
    return job.size == 1 && !request.schedule.doses.empty() && is_plain(request.schedule.doses.front().intensity) &&
           std::all_of(table.begin(), table.end(), [](const Chip& chip) { return chip.treatment == Treatment{0}; });
}

}  // namespace

int run(Request request)
{
    Schedule& schedule = request.schedule;
    const base::JobRank job = base::job_rank();
    const std::vector<std::vector<int>> runs = divide(schedule, base::physical_cores(request.cpus));
    const std::vector<int> cpus{request.cpus.begin(), request.cpus.end()};
    resolve_rates(schedule, runs, request.limits_file);
    const std::vector<Demand> demanded = demands(schedule, runs);
    check_demands(demanded, request.limits);
    const std::set<int> memory_nodes = parse_memory(request.memory);
    warn_of_quota(request);
    allow_descriptors(demanded);
    std::vector<Chip> table;
    if (!schedule.needs_chip()) {
        table = chip_table(schedule, request.seed, request.duration);
        check_designed(request, table);
    }
    const fs::path noise = request.out / "noise";
    base::ClaimedPart claimed{request.out, fs::path{"noise"} / base::join(base::host_name(), ".", job.rank)};
    const fs::path& part = claimed.path();

    // Threads of MPI and of this program stay off the training's CPUs too.
    const base::CpuSet allowed = base::allowed_cpus();
    warn_of_other_noise(request, allowed);
    base::bind_this_thread(request.cpus);
    bind_memory(memory_nodes);
    Records records{part, schedule, request.seed, cpus};
    Team team{schedule,
              {.cpus = cpus,
               .runs = runs,
               .control_run = request.control_run,
               .victims = request.victims,
               .noise = noise,
               .job = job,
               .seed = request.seed,
               .scheduling = request.scheduling,
               .at_once = at_once(request, job, table)}};

    const JobPlan plan = plan_with_others(noise, request, job);
    if (schedule.needs_chip()) {
        schedule.set_chip(plan.chip);
        table = chip_table(schedule, request.seed, request.duration);
        check_designed(request, table);
    }
    if (job.rank == 0) warn_of_few_blocks(request);
    const std::int64_t start_ns = plan.start_realtime_ns - base::realtime_offset_ns();
    nlohmann::ordered_json& record = request.record;
    record_plan(record, request, allowed, plan, start_ns);
    base::write_whole(part / "noise.json", record.dump(2) + "\n");

    Watch watch{request, allowed};
    TrainingWatch training{request.control_run, base::host_name(), needs_training(schedule, request.victims),
                           base::now_ns()};
    claimed.keep();
    const std::int64_t joined_ns = base::now_ns();
    team.start(
        table, start_ns, [&](std::size_t cpu, const PhaseDone& done) { records.phase(cpu, done); },
        [&](std::size_t cpu, const PhaseDone& so_far, const Level& level) { records.level(cpu, so_far, level); },
        [&](std::size_t cpu, const PhaseDone& so_far, bool on, std::int64_t at) {
            records.followed(cpu, so_far, on, at);
        },
        [&](std::size_t cpu, const PhaseDone& so_far, std::int64_t from, std::int64_t until) {
            records.stopped(cpu, so_far, from, until);
        });
    const std::string reason = supervise(request, table, start_ns, team, watch, training);
    const std::int64_t ended_ns = std::min(base::now_ns(), start_ns + table.back().end.count());
    std::exception_ptr failure;
    try {
        team.stop();
    } catch (...) {  // what was recorded until then is kept
        failure = std::current_exception();
    }
    records.finish(table, start_ns, joined_ns, ended_ns);

    const int kept = judge(schedule, team.totals());
    const int code = failure ? base::exit_failed : reason == "overlap" ? base::exit_promise_not_kept : kept;
    record["end_ns"] = ended_ns;
    record["realtime_minus_monotonic_end_ns"] = base::realtime_offset_ns();
    record["realtime_error_ns"] = nullptr;
    if (const auto error = base::realtime_error_ns()) record["realtime_error_ns"] = *error;
    record["joined_late"] = joined_ns > start_ns;
    record_team(record, schedule, runs, team);
    record["overlaps"] = watch.found();
    record["exit"] = {{"reason", reason}, {"code", code}};
    base::write_whole(part / "noise.json", record.dump(2) + "\n");
    if (failure) std::rethrow_exception(failure);
    if (job.rank != 0) return code;
    if (job.size > 1) {
        report_skew(request, record, noise, job.size, reason != "duration");
        base::write_whole(part / "noise.json", record.dump(2) + "\n");
    }
    if (request.json)
        std::cout << record.dump(2) << "\n";
    else
        print(std::cout, schedule, team.totals());
    return code;
}

}  // namespace noisegen
