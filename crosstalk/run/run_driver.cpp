// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/run/run_driver.hpp"

#include "base/contract/control_file.hpp"
#include "base/contract/run_directory.hpp"
#include "base/contract/run_words.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/clock.hpp"
#include "base/system/launcher.hpp"
#include "base/system/stop.hpp"
#include "base/system/waiting.hpp"
#include "base/words.hpp"
#include "crosstalk/run/analysis.hpp"
#include "crosstalk/run/first_steps.hpp"
#include "crosstalk/run/noise_command.hpp"
#include "crosstalk/run/noise_plan.hpp"
#include "crosstalk/run/place/core_levels.hpp"
#include "crosstalk/run/request/ended.hpp"
#include "crosstalk/run/request/request_record.hpp"
#include "crosstalk/run/so_far.hpp"
#include "crosstalk/run/victims.hpp"

#include <algorithm>
#include <csignal>
#include <iostream>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

constexpr base::Nanoseconds noise_ready_within = std::chrono::minutes{5};
constexpr std::int64_t patience_to_end_ns = 20'000'000'000;  // time for a job to end on request

Request launched_by(const Request& request, const Launcher& launcher, const Placement& placement)
{
    Request launched = request;
    const Words words = launcher.job(placement);
    launched.command.insert(launched.command.begin(), words.begin(), words.end());
    return launched;
}

std::string no_core_to_take(std::size_t ranks, std::size_t cores)
{
    return base::join("the job's ", ranks == 1 ? "process" : base::join(ranks, " ranks"), " can keep ",
                      cores == 0 ? "no core" : "one core", ranks == 1 ? "" : " each",
                      ": there is none to take. Bind ranks to more cores or to none "
                      "(mpirun --bind-to none), or start fewer");
}

// Has that node recorded a first slot?
bool has_noise(const fs::path& run, const std::string& node)
{
    std::error_code none;
    for (const fs::directory_entry& process : fs::directory_iterator{run / base::part::noise, none}) {
        const std::string name = process.path().filename().string();
        if (!node.empty() && name.substr(0, name.rfind('.')) != node) continue;
        const fs::path rows = process.path() / base::file::noise_rows;
        if (fs::exists(rows) && std::ranges::count(base::read_whole(rows), '\n') > 1) return true;
    }
    return false;
}

}  // namespace

// Ranks with their own cores are bound only by their launcher.
RunDriver::RunDriver(const Request& request)
    : request_{request},
      launcher_{launcher_for(request)},
      placement_{placement_for(request, *launcher_)},
      cores_{placement_.cores},
      launched_{launched_by(request, *launcher_, placement_)},
      job_{launched_, placement_.each_rank.empty() ? cores_.job : base::CpuSet{}},
      schedule_{schedule_for(base::physical_cores(cores_.job).size())},
      noise_{request_, *launcher_},
      evidence_{request_, *launcher_}
{
    if ((!launcher_->is_parent() || !request.noise_launch.empty()) && !job_.cooperates())
        base::fail_usage(
            "a job of another launcher cannot be paused, so it must report its steps and make the known delay: "
            "ddl-train, crosstalk-python or marks");
}

void RunDriver::plan()
{
    slots_ = slots_of(request_, schedule_, cores_);
}

void RunDriver::run()
{
    const fs::path log = request_.out / base::part::log;
    base::write_whole(log / "slots.txt", slots_);
    launcher_->write_records(log);
    base::bind_this_thread(cores_.noise);
    say_where();
    prepare_for_mpi();
    job_.measure_quiet_step();
    job_.start();
    wait_for_first_steps(job_, request_);
    plan_anew();
    keep_noise_off_the_job();
    start_evidence();
    start_noise();
    wait_for_noise();
    watch();
    noise_.end(ended_early_);
    evidence_.end();
    end_started_processes();
}

int RunDriver::report()
{
    take_steps();
    put_old_report_aside(request_);
    const int code = analyse(request_, cores_.noise);
    has_report_ = fs::exists(request_.whole / base::part::report);
    const bool no_report = code == base::exit_failed && !has_report_;
    if (code == base::exit_promise_not_kept || (no_report && ended_early_))
        throw Ended{base::exit_promise_not_kept, "noise did not cover the training"};
    return code;
}

void RunDriver::keep()
{
    constexpr std::int64_t patience_to_job_ns = 10'000'000'000;
    if (noise_on_ns_ == 0) return;
    try {
        ask_to_end();
        if (!base::wait_until([this] { return !job_.running(); }, patience_to_job_ns, look_again_ns)) end_at_once();
        noise_.end(ended_early_);
        evidence_.end();
        end_started_processes();
        if (!has_steps_) take_steps();
        is_kept_ = true;
    } catch (const Ended& ended) {
        base::warn(ended.reason);
    } catch (const std::exception& error) {
        base::warn(error.what());
    }
}

void RunDriver::show() const
{
    std::cout << "job, on CPUs " << base::format_cpus(cores_.job) << ":\n  " << base::printable(job_.command_line())
              << "\nnoise, on CPUs " << base::format_cpus(cores_.noise) << ":\n  "
              << base::printable(base::shell_words(with_launcher(noise_words(request_, schedule_, cores_)))) << "\n";
    if (const Words evidence = evidence_.words(placement_, "JOB"); !evidence.empty())
        std::cout << "evidence, on the same CPUs:\n  " << base::printable(base::shell_words(evidence)) << "\n";
}

Words RunDriver::with_launcher(const Words& noise) const
{
    Words words = launcher_->noise(placement_);
    words.insert(words.end(), noise.begin(), noise.end());
    return words;
}

void RunDriver::say_where() const
{
    base::warn("job on CPUs ", base::format_cpus(cores_.job), ", noise on ", base::format_cpus(cores_.noise),
               launcher_->nodes() > 1 ? base::join(" of each of ", launcher_->nodes(), " nodes: ") : ": ", schedule_);
    if (cores_.shared && !takes_cores(schedule_))
        base::warn("noise and job share cores: this measures core sharing, not noise on idle cores");
}

void RunDriver::take_steps()
{
    Words reading = job_.finish();
    reading.insert(reading.end(), {"--warmup", base::warm_up_until_noise});
    write_request(request_, reading, reached_its_end_);
    has_steps_ = true;
}

// Signals the processes of jobs whose launcher would kill ranks that take long to write their archive; else the
// launcher.
void RunDriver::ask_to_end()
{
    if (!launcher_->is_parent())
        launcher_->end_job(job_.child());
    else if (job_.source().ends_by_its_processes())
        signal_job(SIGTERM);
    else
        job_.stop();
}

void RunDriver::end_at_once()
{
    launcher_->is_parent() ? signal_job(SIGKILL) : job_.stop();
}

void RunDriver::signal_job(int signal) const
{
    for (const pid_t pid : victims_of(job_.pid())) ::kill(pid, signal);
}

void RunDriver::rest() const
{
    base::end_if_stopped();
    base::sleep_until_ns(base::now_ns() + look_again_ns);
}

// Plans again for a job that turned out to mark its steps, or whose ranks have another number of cores than assumed.
void RunDriver::plan_anew()
{
    std::size_t cores = base::physical_cores(cores_.job).size();
    if (const std::set<pid_t> here = takes_cores(schedule_) ? ranks() : std::set<pid_t>{}; !here.empty()) {
        cores = cores_of_a_rank(here);
        if (cores < 2) throw Ended{base::exit_usage, no_core_to_take(here.size(), cores)};
    }
    const std::string schedule = schedule_for(cores);
    if (schedule == schedule_) return;
    schedule_ = schedule;
    plan();
    base::write_whole(request_.out / base::part::log / "slots.txt", slots_);
    base::warn("the schedule, now that the job's cores are known: ", schedule_);
}

std::string RunDriver::schedule_for(std::size_t cores_of_rank) const
{
    return with_core_levels(schedule_of(request_, job_.cooperates(), cores_.noise), cores_of_rank);
}

std::set<pid_t> RunDriver::ranks() const
{
    if (!job_.cooperates()) return victims_of(job_.pid());
    return base::training_processes(base::ControlFile::open(request_.out, base::host_name()).page());
}

// A launcher may bind ranks to CPUs that were not assigned to the job; the noise avoids these CPUs.
void RunDriver::keep_noise_off_the_job()
{
    if (cores_.shared || !launcher_->is_parent()) return;
    const base::CpuSet elsewhere = bound_elsewhere(job_.pid(), cores_.job);
    if (elsewhere.empty()) return;
    for (const int cpu : elsewhere) {
        cores_.job.insert(cpu);
        cores_.noise.erase(cpu);
    }
    if (cores_.noise.empty())
        throw Ended{base::exit_usage, base::join("the job bound itself to CPUs ", base::format_cpus(elsewhere),
                                                 ", which leaves none for the noise: bind it to fewer, or not at all")};
    base::warn("the job bound itself to CPUs ", base::format_cpus(elsewhere), ", so noise is on ",
               base::format_cpus(cores_.noise));
}

// Starts the evidence before the noise, so that it also covers quiet steps.
void RunDriver::start_evidence()
{
    if (request_.evidence == base::evidence_word::off) return;
    job_.write_ranks();
    evidence_.start(placement_, job_.pid());
}

void RunDriver::start_noise()
{
    Words words = with_launcher(words_to_start(request_, schedule_, cores_, job_.source().writes_archive_at_its_end()));
    if (!job_.cooperates())
        for (const pid_t pid : victims_of(job_.pid())) words.insert(words.end(), {"--victim", std::to_string(pid)});
    noise_.start(words, cores_.noise);
}

bool RunDriver::is_noise_everywhere()
{
    return launcher_->nodes() == 1 || nodes_without_noise().empty();
}

// Text such as " (not on n2)".
std::string RunDriver::nodes_without_noise() const
{
    Words lacking;
    for (const std::string& node : launcher_->node_names())
        if (!has_noise(request_.out, node)) lacking.push_back(node);
    return lacking.empty() ? "" : " (not on " + base::join_words(lacking, ", ") + ")";
}

// Stressors may take a while to allocate memory and files, and slot=auto measures steps first.
void RunDriver::wait_for_noise()
{
    const std::int64_t begin_ns = base::now_ns();
    const std::int64_t limit_ns = begin_ns + noise_ready_within.count() + request_.duration.count();
    std::int64_t next_line_ns = begin_ns + line_every_ns;
    while (true) {
        const std::int64_t now_ns = base::now_ns();
        const std::int64_t seconds = (now_ns - begin_ns) / 1'000'000'000;
        if (!job_.running()) throw ended_by_itself(job_, "before noise was on" + nodes_without_noise());
        const std::optional<NoisePlan> plan = noise_plan(request_.out);
        if (plan && plan->on_ns <= now_ns && is_noise_everywhere()) {
            base::warn("noise is on", seconds > 2 ? base::join(", after ", seconds, " s of preparing") : "");
            noise_on_ns_ = plan->on_ns;
            return check_length(two_blocks(schedule_, slots_, plan->slot));
        }
        if (!noise_.runs()) {
            noise_.end(ended_early_);  // throws if it failed
            throw Ended{base::exit_promise_not_kept, "noise ended before it was on: see " + noise_.log().string()};
        }
        if (now_ns >= limit_ns)
            throw Ended{base::exit_promise_not_kept,
                        base::join("noise was not on after ", seconds, " s", nodes_without_noise(), ": see ",
                                   noise_.log().string())};
        if (now_ns >= next_line_ns) {
            next_line_ns += line_every_ns;
            base::warn("preparing noise, ", seconds, " s");
        }
        rest();
    }
}

// Called as soon as the slot length is known.
void RunDriver::check_length(base::Nanoseconds needed)
{
    needed_ = needed;
    if (needed_ <= request_.duration) return;
    throw Ended{base::exit_usage,
                base::join("two blocks of this schedule take ", base::format(needed_),
                           ", the minimum for a report: ", request_.until_decided ? "--max-duration " : "--duration ",
                           base::format(needed_), " or more, or a shorter --slot")};
}

void RunDriver::watch()
{
    const std::int64_t begin_ns = noise_on_ns_;
    const std::int64_t end_ns = begin_ns + request_.duration.count();
    std::int64_t next_line_ns = begin_ns + line_every_ns;
    bool asked = false;
    std::int64_t asked_ns = 0;
    while (job_.running()) {
        const std::int64_t now_ns = base::now_ns();
        if (!ended_early_ && !asked && !noise_.runs()) {
            ended_early_ = true;
            base::warn("noise ended before the job: see ", noise_.log().string());
        }
        if (!asked && now_ns >= end_ns && !has_to_end_by_itself()) {
            asked = reached_its_end_ = true;
            asked_ns = now_ns;
            ask_to_end();
        }
        if (asked && now_ns >= asked_ns + patience_to_end_ns) {  // noise is still on
            end_at_once();
            break;
        }
        if (now_ns >= next_line_ns) {
            next_line_ns += line_every_ns;
            if (asked)
                base::warn("the job was asked to end ", (now_ns - asked_ns) / 1'000'000'000, " s ago");
            else
                say_how_far((now_ns - begin_ns) / 1'000'000'000);
            if (decided_ && !asked) {
                asked = true;
                asked_ns = now_ns;
                base::warn("every verdict is decided");
                ask_to_end();
            }
        }
        rest();
    }
    if (!asked && job_.exit_code() != 0) throw ended_by_itself(job_, "during the noise");
    const base::Nanoseconds on{base::now_ns() - noise_on_ns_};
    was_too_short_ = on < needed_;
    if (!asked && was_too_short_)
        throw Ended{base::exit_promise_not_kept,
                    base::join("the job ended after ", on.count() / 1'000'000'000,
                               " s of noise, but two blocks of its schedule take ", base::format(needed_),
                               ": run it longer, or give a shorter --slot")};
}

// Score-P writes its archive at the program's end. A signal that the program does not handle would prevent that.
bool RunDriver::has_to_end_by_itself()
{
    if (!job_.source().writes_archive_at_its_end() || handle_sigterm(victims_of(job_.pid()))) return false;
    if (!waits_for_its_end_)
        base::warn("the job ignores SIGTERM, and Score-P writes its archive when it ends: waiting for its end");
    waits_for_its_end_ = true;
    return true;
}

void RunDriver::say_how_far(std::int64_t seconds)
{
    if (const std::string line = so_far(); !line.empty()) return base::warn(line);
    const std::optional<std::size_t> steps = job_.source().steps_so_far();
    base::warn(seconds, " s of ", base::format(request_.duration),
               steps ? base::join(", ", *steps, " steps") : std::string{});
}

// Preliminary effects in one line; empty if steps can be read only at the end.
std::string RunDriver::so_far()
{
    if (!job_.cooperates()) return {};
    const fs::path file = request_.out / base::part::log / "so_far.json";
    const auto child =
        start({.words = so_far_words(request_), .folder = {}, .output = file, .errors = file}, cores_.noise);
    if (wait_for(*child) != base::exit_fine) return {};
    const SoFar found = read_so_far(file);
    decided_ = request_.until_decided && found.decided;
    return found.line;
}

}  // namespace crosstalk
