// SPDX-License-Identifier: Apache-2.0
// noisegen: reproducible stress on the CPUs a job leaves idle.
#include "base/cli/options.hpp"
#include "base/contract/run_record.hpp"
#include "base/system/launcher.hpp"
#include "base/system/local_rank.hpp"
#include "base/system/processes.hpp"
#include "base/system/stop.hpp"
#include "base/words.hpp"
#include "noisegen/cli/commands.hpp"
#include "noisegen/execution/run.hpp"
#include "noisegen/resources/node_limits.hpp"
#include "noisegen/schedule/designed.hpp"
#include "noisegen/schedule/parser.hpp"
#include "noisegen/stressors/outside.hpp"
#include "noisegen/stressors/registry.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <set>

#include <fcntl.h>
#include <unistd.h>

namespace {

void add_where(base::Options& options, noisegen::Request& request, std::vector<std::string>& avoid)
{
    options.group("Where");
    noisegen::add_placement(options, request.cpu_request, avoid);
    options.add_choice("on-overlap", request.on_overlap, {"report", "stop"},
                       "what to do if an avoided process moves to a noise CPU");
    options.add("memory", request.memory, "NUMA nodes to allocate from; local: the noise CPU's", "LIST");
    options.add_choice("sched", request.scheduling, {"other", "batch", "idle"}, "scheduling class, sched(7)");
}

std::set<pid_t> parse_victims(const std::vector<std::string>& words)
{
    std::set<pid_t> victims;
    for (const std::string& word : words) {
        const auto pid = base::parse<int>(word);
        if (pid < 1 || base::processes({pid}).empty()) base::fail_usage("--victim: no process ", word);
        victims.insert(pid);
    }
    return victims;
}

// Refuses PIDs in a job with several hosts: a number means another process on each host.
void check_victims(const noisegen::Request& request)
{
    if (request.victims.empty()) return;
    const auto acts = [](const noisegen::Configured& stressor) { return stressor.card->acts_on_the_job; };
    const std::vector<noisegen::Configured>& stressors = request.schedule.stressors;
    if (std::ranges::none_of(stressors, acts))
        base::fail_usage("--victim is for control.pause and job.cores; '", request.schedule.text, "' has neither");
    if (base::job_rank().size > base::local_rank().size)
        base::fail_usage("--victim is a process of one host, but this job has several");
}

// The libraries of --load, followed by those of the environment variable.
std::vector<std::string> with_variable(std::vector<std::string> libraries)
{
    const char* const more = std::getenv(noisegen::outside_variable);
    for (const std::string& file : base::split(more == nullptr ? "" : more, ':'))
        if (!file.empty()) libraries.push_back(file);
    return libraries;
}

// The schedule of --schedule, or of the words without dashes.
noisegen::Schedule parse(const std::string& option, const std::vector<std::string>& words)
{
    if (!option.empty() && !words.empty())
        base::fail_usage("two schedules: '", option, "' and '", base::join_words(words, " "), "'");
    const std::string text = words.empty() ? option : base::join_words(words, " ");
    if (text.empty()) base::fail_usage("needs a schedule, such as: noisegen memory.stream 5s (noisegen --help)");
    try {
        return noisegen::parse_schedule(text);
    } catch (const base::UsageError&) {
        const base::Commands commands = noisegen::commands();
        if (words.empty() || base::did_you_mean(words.front(), base::words_of(commands)).empty()) throw;
        base::fail_command(words.front(), commands, "and schedules: noisegen --help");
    }
}

// Without a run directory several processes have no way to agree, and there is no training to make requests to or
// follow.
void check_without_records(const noisegen::Request& request)
{
    if (const int processes = base::job_rank().size; processes > 1)
        base::fail_usage("needs --out DIR, in which the ", processes, " processes of this job agree on the slots");
    if (request.control_run.empty() && noisegen::needs_training(request))
        base::fail_usage("'", request.schedule.text,
                         "' depends on a training: give its run directory with --out or --control");
}

void show(noisegen::Plan plan)
{
    const noisegen::Schedule& schedule = plan.request.schedule;
    if (schedule.needs_slot()) {
        base::warn("slot=auto is measured at run time; shown with slots of 1s");
        noisegen::set_slot(plan, std::chrono::seconds{1});
    } else if (const std::string why = noisegen::why_no_report(schedule, plan.table);
               plan.request.designed && !why.empty()) {
        base::fail_usage("interference could not report on this run: ", why);
    }
    for (const noisegen::CpuPlacement& placement : plan.placements) base::warn(noisegen::text(placement));
    noisegen::print(std::cout, schedule, plan.table);
    base::flush_stdout();
}

}  // namespace

int main(int argc, char** argv)
try {
    base::occupy_closed_streams();
    if (const auto duty = noisegen::asked_to_guard(argc, argv)) return noisegen::guard(*duty, argv[2]);
    const int oom_score_adj = noisegen::be_first_victim();
    if (const auto code = base::run_command(noisegen::commands(), argc, argv)) return *code;

    std::string schedule;
    std::string out;
    std::string control;
    std::string limits;
    std::string openmetrics;
    std::string follow;
    std::vector<std::string> words;
    std::vector<std::string> avoid;
    std::vector<std::string> victims;
    std::vector<std::string> libraries;
    noisegen::Request request;
    bool list = false;
    bool dry_run = false;

    base::Options options{"noisegen", "reproducible stress on the CPUs a job leaves idle"};
    options.add_positional("SCHEDULE", words, "the schedule, instead of --schedule: memory.stream 5s", 0);
    options.group("What");
    options.add("schedule", schedule, "which stressor runs when; see below", "SCHEDULE");
    options.add("duration", request.duration, "length of the run; the schedule 'memory.stream 5s' alone sets it to 5s",
                "TIME");
    options.add("planned", request.planned, "expected length, if --duration is an upper bound (slot=auto)", "TIME");
    options.add("follow", follow,
                "make noise only while the training on this node is in these phases (backward, or forward+backward); "
                "applies to stressors without [follow=..]",
                "PHASE");
    options.add("seed", request.seed, "seed of the random order: the same seed gives the same slots", "NUMBER");
    options.add("load", libraries,
                "shared library with a stressor of your own; also loads those in CROSSTALK_LOAD, separated by colons",
                "FILE");
    options.add_switch("list", list, "list the stressors and exit");
    options.add_switch("designed", request.designed,
                       "refuse a schedule that interference cannot report on; default if OUT has a training");
    options.add_switch("dry-run", dry_run, "print the CPUs and the slot table, and exit");
    add_where(options, request, avoid);
    options.group("How much");
    noisegen::add_budgets(options, request.budgets);
    noisegen::add_limits_option(options, limits);
    options.group("Records");
    options.add("out", out, "the run's directory, for OUT/noise/<host>.<rank>/; - or none: no records", "DIR");
    options.add("control", control, "the training's run directory if not OUT, for control.*, follow and slot=auto",
                "DIR");
    options.add("victim", victims,
                "processes of the job, with descendants, for control.pause and job.cores; default: those in the "
                "control file",
                "PID");
    options.add("openmetrics", openmetrics,
                "write the active noise and its rate every 5 s, for Prometheus' node exporter", "FILE");
    options.add_switch("json", request.json, "print noise.json at the end; with --list: the list as JSON");
    noisegen::add_manual(options);
    if (!options.parse(argc, argv)) return base::exit_fine;
    libraries = noisegen::load_stressors(with_variable(libraries));
    if (list) {
        base::list(std::cout, {noisegen::stressors().catalogue()}, request.json);
        base::flush_stdout();
        return base::exit_fine;
    }

    if (out == "-" || out == "none") out.clear();  // as in noisegen probe: print only the table
    request.schedule = parse(schedule, words);
    if (const auto length = noisegen::only_length(request.schedule); length && !options.given("duration"))
        request.duration = *length;
    noisegen::follow(request.schedule, noisegen::parse_follow(follow));
    request.victims = parse_victims(victims);
    check_victims(request);
    if (request.duration.count() <= 0) base::fail_usage("--duration must be more than zero");
    if (request.duration > std::chrono::hours{24 * 366}) base::fail_usage("--duration must be at most a year");
    request.avoid = noisegen::parse_avoid(avoid);
    request.limits_file = limits;
    request.openmetrics = openmetrics;
    request.out = out;
    request.control_run = control.empty() ? out : control;
    request.avoid.training = request.control_run;
    if (out.empty() && !dry_run) check_without_records(request);
    noisegen::Plan plan =
        noisegen::plan(std::move(request), !dry_run || options.given("cpus") || options.given("avoid"));
    if (dry_run) {
        show(std::move(plan));
        return base::exit_fine;
    }
    nlohmann::ordered_json record = base::run_record("noisegen", argc, argv);
    record["oom_score_adj"] = oom_score_adj;
    record["loaded"] = libraries;

    base::stop_on_signals();
    base::stop_with_parent();
    const int code = noisegen::run(std::move(plan), std::move(record));
    if (!std::cout.flush()) base::fail("cannot write the results to stdout; the records are complete");
    return code;
} catch (...) {
    return base::report_failure("noisegen");
}
