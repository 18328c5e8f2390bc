#include "jobscripts/run/designed_run.hpp"

#include "base/contract/run_directory.hpp"
#include "base/contract/run_words.hpp"
#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/clock.hpp"
#include "base/system/stop.hpp"
#include "base/system/waiting.hpp"
#include "base/words.hpp"
#include "jobscripts/programs/guardian.hpp"
#include "jobscripts/programs/programs.hpp"
#include "jobscripts/run/analysis.hpp"
#include "jobscripts/run/cores.hpp"
#include "jobscripts/run/ended.hpp"
#include "jobscripts/run/first_steps.hpp"
#include "jobscripts/run/job.hpp"
#include "jobscripts/run/leftover.hpp"
#include "jobscripts/run/noise_command.hpp"
#include "jobscripts/run/noise_plan.hpp"
#include "jobscripts/run/noise_process.hpp"
#include "jobscripts/run/request/request_record.hpp"
#include "jobscripts/run/request/run_directory.hpp"
#include "jobscripts/run/results.hpp"
#include "jobscripts/run/so_far.hpp"
#include "jobscripts/run/victims.hpp"

#include <algorithm>
#include <csignal>
#include <iostream>

#include <unistd.h>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

constexpr base::Nanoseconds noise_ready_within = std::chrono::minutes{5};
constexpr std::int64_t patience_to_end_ns = 20'000'000'000;  // of a job that was asked to end

class Run {
 public:
    explicit Run(const Request& request)
        : request_{request},
          cores_{cores_for(request)},
          job_{request_, cores_.job},
          schedule_{schedule_of(request_, job_.cooperates(), cores_.noise)}
    {
        if (!request.noise_launch.empty() && !job_.cooperates())
            base::fail_usage(
                "--noise-launch: a job on several nodes cannot be stopped from here, so it has to tell its steps and make "
                "the known delay: ddl-train, crosstalk-python or marks");
    }

    // The slots, before anything is started.
    void plan() { slots_ = slots_of(request_, schedule_, cores_); }

    void run()
    {
        base::write_whole(request_.out / base::part::log / "slots.txt", slots_);
        base::bind_this_thread(cores_.noise);
        say_where();
        prepare_for_mpi();
        job_.measure_quiet_step();
        job_.start();
        wait_for_first_steps(job_, request_);
        plan_anew();
        keep_noise_off_the_job();
        start_noise();
        wait_for_noise();
        watch();
        noise_.end(ended_early_);
        end_started_processes();
    }

    // Returns interference's exit code.
    int report()
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

    // After a signal: ends the job and the noise, and leaves what a report can be made from.
    void keep()
    {
        constexpr std::int64_t patience_to_job_ns = 10'000'000'000;
        if (noise_on_ns_ == 0) return;
        try {
            ask_to_end();
            if (!base::wait_until([this] { return !job_.running(); }, patience_to_job_ns, look_again_ns))
                signal_job(SIGKILL);
            noise_.end(ended_early_);
            end_started_processes();
            if (!has_steps_) take_steps();
            is_kept_ = true;
        } catch (const Ended& ended) {
            base::warn(ended.reason);
        } catch (const std::exception& error) {
            base::warn(error.what());
        }
    }
    bool is_kept() const { return is_kept_; }

    // Of its own, and not of a part before.
    bool has_report() const { return has_report_; }

    // How long noise has to be on for a report, where it was not; else 0.
    base::Nanoseconds missing() const { return was_too_short_ ? needed_ : base::Nanoseconds{}; }

    void show() const
    {
        std::cout << "job, on CPUs " << base::format_cpus(cores_.job) << ":\n  " << base::printable(job_.command_line())
                  << "\nnoise, on CPUs " << base::format_cpus(cores_.noise) << ":\n  "
                  << base::printable(base::shell_words(with_launch(request_, noise_words(request_, schedule_, cores_))))
                  << "\n";
    }

 private:
    void say_where() const
    {
        base::warn("job on CPUs ", base::format_cpus(cores_.job), ", noise on ", base::format_cpus(cores_.noise), ": ",
                   schedule_);
        if (cores_.shared)
            base::warn(
                "noise and job share their cores: this measures what sharing a core costs, which idle cores "
                "don't");
    }

    void take_steps()
    {
        std::vector<std::string> reading = job_.finish();
        reading.insert(reading.end(), {"--warmup", base::warm_up_until_noise});
        write_request(request_, reading);
        has_steps_ = true;
    }

    void ask_to_end()
    {
        if (job_.source() == StepSource::scorep || job_.source() == StepSource::ddl_train)
            end_job();
        else
            job_.stop();
    }

    void rest() const
    {
        base::end_if_stopped();
        base::sleep_until_ns(base::now_ns() + look_again_ns);
    }

    // A job that turned out to mark its steps gets another schedule.
    void plan_anew()
    {
        const std::string schedule = schedule_of(request_, job_.cooperates(), cores_.noise);
        if (schedule == schedule_) return;
        schedule_ = schedule;
        plan();
        base::write_whole(request_.out / base::part::log / "slots.txt", slots_);
        base::warn("the job tells its steps: ", schedule_);
    }

    // A launcher may bind ranks to CPUs that it was not given.
    void keep_noise_off_the_job()
    {
        if (cores_.shared) return;
        const base::CpuSet elsewhere = bound_elsewhere(job_.pid(), cores_.job);
        if (elsewhere.empty()) return;
        for (const int cpu : elsewhere) {
            cores_.job.insert(cpu);
            cores_.noise.erase(cpu);
        }
        if (cores_.noise.empty())
            throw Ended{base::exit_usage,
                        base::join("the job bound itself to CPUs ", base::format_cpus(elsewhere),
                                   ", which leaves none to the noise: let it run on fewer, or unbound")};
        base::warn("the job bound itself to CPUs ", base::format_cpus(elsewhere), ", so noise is on ",
                   base::format_cpus(cores_.noise));
    }

    void start_noise()
    {
        const bool waits_for_job = job_.source() == StepSource::scorep;
        std::vector<std::string> words = words_to_start(request_, schedule_, cores_, waits_for_job);
        if (!job_.cooperates())
            for (const pid_t pid : victims_of(job_.pid())) words.insert(words.end(), {"--victim", std::to_string(pid)});
        noise_.start(words, cores_.noise);
    }

    // Stressors may take a while to get their memory and files, and slot=auto measures steps first.
    void wait_for_noise()
    {
        const std::int64_t begin_ns = base::now_ns();
        const std::int64_t limit_ns = begin_ns + noise_ready_within.count() + request_.duration.count();
        std::int64_t next_line_ns = begin_ns + line_every_ns;
        while (true) {
            const std::int64_t now_ns = base::now_ns();
            const std::int64_t seconds = (now_ns - begin_ns) / 1'000'000'000;
            if (!job_.running()) throw ended_by_itself(job_, "before noise was on");
            const std::optional<NoisePlan> plan = noise_plan(request_.out);
            if (plan && plan->on_ns <= now_ns) {
                base::warn("noise is on", seconds > 2 ? base::join(", after ", seconds, " s of preparing") : "");
                noise_on_ns_ = plan->on_ns;
                return check_length(two_blocks(schedule_, slots_, plan->slot));
            }
            if (!noise_.runs()) {
                noise_.end(ended_early_);  // throws where it failed
                throw Ended{base::exit_promise_not_kept, "noise ended before it was on: see " + noise_.log().string()};
            }
            if (now_ns >= limit_ns)
                throw Ended{base::exit_promise_not_kept,
                            base::join("noise was not on after ", seconds, " s: see ", noise_.log().string())};
            if (now_ns >= next_line_ns) {
                next_line_ns += line_every_ns;
                base::warn("preparing noise, ", seconds, " s");
            }
            rest();
        }
    }

    // Known as soon as the length of a slot is.
    void check_length(base::Nanoseconds needed)
    {
        needed_ = needed;
        if (needed_ <= request_.duration) return;
        throw Ended{base::exit_usage, base::join("two blocks of this schedule take ", base::format(needed_),
                                                 ", and a report needs them: ",
                                                 request_.until_decided ? "--max-duration " : "--duration ",
                                                 base::format(needed_), " or more, or a shorter --slot")};
    }

    void watch()
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
                asked = true;
                asked_ns = now_ns;
                ask_to_end();
            }
            if (asked && now_ns >= asked_ns + patience_to_end_ns) {  // while noise is still on
                signal_job(SIGKILL);
                break;
            }
            if (now_ns >= next_line_ns) {
                next_line_ns += line_every_ns;
                say_how_far((now_ns - begin_ns) / 1'000'000'000);
                if (decided_ && !asked) {
                    asked = true;
                    asked_ns = now_ns;
                    base::warn("every verdict is decided");
                    end_job();
                }
            }
            rest();
        }
        if (!asked && job_.exit_code() != 0) throw ended_by_itself(job_, "beside the noise");
        const base::Nanoseconds on{base::now_ns() - noise_on_ns_};
        was_too_short_ = on < needed_;
        if (!asked && was_too_short_)
            throw Ended{base::exit_promise_not_kept,
                        base::join("the job ended after ", on.count() / 1'000'000'000,
                                   " s of noise, and two blocks of its schedule take ", base::format(needed_),
                                   ": let it take longer, or give a shorter --slot")};
    }

    // Score-P writes its archive in the end of the program, which a signal that the program does not handle takes away.
    bool has_to_end_by_itself()
    {
        if (job_.source() != StepSource::scorep || handle_sigterm(victims_of(job_.pid()))) return false;
        if (!waits_for_its_end_)
            base::warn(
                "the job does not handle SIGTERM, and Score-P writes its archive when the job ends: waiting for that");
        waits_for_its_end_ = true;
        return true;
    }

    // Signals its processes and not the launcher, which would kill ranks that take long to write their archive.
    void end_job() const { signal_job(SIGTERM); }

    void signal_job(int signal) const
    {
        for (const pid_t pid : victims_of(job_.pid())) ::kill(pid, signal);
    }

    void say_how_far(std::int64_t seconds)
    {
        if (const std::string line = so_far(); !line.empty()) return base::warn(line);
        const std::optional<std::size_t> steps = job_.steps_so_far();
        base::warn(seconds, " s of ", base::format(request_.duration),
                   steps ? base::join(", ", *steps, " steps") : std::string{});
    }

    // What is known of the effects by now; empty where steps can be read in the end only.
    std::string so_far()
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

    const Request& request_;
    Split cores_;
    Job job_;
    std::string schedule_;
    NoiseProcess noise_{request_};
    std::string slots_;
    std::int64_t noise_on_ns_ = 0;
    base::Nanoseconds needed_{};  // of noise, for a report
    bool was_too_short_ = false;
    bool ended_early_ = false;
    bool waits_for_its_end_ = false;
    bool decided_ = false;  // before the longest time was over
    bool has_report_ = false;
    bool has_steps_ = false;
    bool is_kept_ = false;
};

int measured(const Request& request, Run& run)
{
    const Guardian guardian{request.out};
    const EndsWhatWasStarted guard;
    try {
        run.run();
        const int code = run.report();
        write_status(request, code, "");
        export_results(request);
        return code;
    } catch (const Ended& ended) {
        write_status(request, ended.code, ended.reason);
        run.has_report() ? export_results(request) : export_failure(request, ended.reason);
        base::warn(ended.reason);
        return ended.code;
    } catch (const base::Interrupted& by) {
        const std::string reason = base::join("signal ", by.signal, " ended the run before its report");
        write_status(request, 128 + by.signal, reason);
        export_failure(request, reason);
        base::warn(reason, ": what there is of it is in ", request.out.string());
        run.keep();
        throw;
    } catch (const base::UsageError& error) {
        write_status(request, base::exit_usage, error.what());
        export_failure(request, error.what());
        throw;
    } catch (const std::exception& error) {  // also of a system call, or of a library
        write_status(request, base::exit_failed, error.what());
        export_failure(request, error.what());
        throw;
    }
}

}  // namespace

int designed_run(const Request& request)
{
    Run run{request};
    run.plan();
    const base::Descriptor lock = claim_directory(request);
    const auto say_what_is_left = [&] {
        if (const std::string words = left_out_by_recording(request); !words.empty()) base::warn(words);
        if (run.has_report()) return;
        const std::string command = run.is_kept() ? "interference analyse " + base::shell_word(request.whole.string())
                                                  : command_for_a_report(request, run.missing());
        if (!command.empty()) base::warn("a report from what is there: ", command);
    };
    try {
        const int code = measured(request, run);
        say_what_is_left();
        return code;
    } catch (...) {
        say_what_is_left();
        throw;
    }
}

int show_designed_run(const Request& request)
{
    const Run run{request};
    run.show();
    return base::exit_fine;
}

}  // namespace crosstalk
