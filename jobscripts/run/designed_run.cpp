#include "jobscripts/run/designed_run.hpp"

#include "base/contract/control_file.hpp"
#include "base/contract/run_directory.hpp"
#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/system/clock.hpp"
#include "base/system/stop.hpp"
#include "base/words.hpp"
#include "jobscripts/leftovers/guardian.hpp"
#include "jobscripts/run/analysis.hpp"
#include "jobscripts/run/cores.hpp"
#include "jobscripts/run/ended.hpp"
#include "jobscripts/run/job.hpp"
#include "jobscripts/run/programs.hpp"
#include "jobscripts/run/request/request_record.hpp"
#include "jobscripts/run/request/run_directory.hpp"
#include "jobscripts/run/results.hpp"
#include "jobscripts/run/victims.hpp"

#include <boost/program_options/parsers.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <iostream>

#include <unistd.h>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t look_again_ns = 100'000'000;
constexpr std::size_t steps_before_noise = 5;
constexpr std::size_t steps_for_the_delay = base::control_first_quiet_step + base::control_quiet_steps + 2;
constexpr std::int64_t start_up_ns = 5'000'000'000;          // of a job whose steps show only in the end
constexpr std::int64_t patience_to_end_ns = 20'000'000'000;  // of a job that was asked to end
constexpr std::int64_t line_every_ns = 10'000'000'000;

// The node has idle cores for three stressors with a core each? Else "on" would not be the same treatment every time.
constexpr std::size_t cores_of_a_factorial = 3;

// Without steps to be seen, a slot is long enough for most steps.
constexpr const char* blind_slot = "1s";

std::string schedule_of(const Request& request, const Job& job, const base::CpuSet& noise)
{
    if (request.schedule != "auto") return request.schedule;
    const std::string slot = request.slot != "auto" ? request.slot : job.cooperates() ? "auto" : blind_slot;
    const bool factorial = base::physical_cores(noise).size() >= cores_of_a_factorial;
    const bool delay = job.cooperates() && request.control_delay != "0";
    return base::join(factorial ? "factorial" : "rotation", "(memory.stream, network.exchange, io.write, placebo, ",
                      delay ? "control.delay, control.sham" : "control.pause", "; slot=", slot, ")");
}

std::vector<std::string> noise_words(const Request& request, const Job& job, const Split& cores)
{
    std::vector<std::string> words{
        program("noisegen"),          "--schedule", schedule_of(request, job, cores.noise), "--seed",
        std::to_string(request.seed), "--cpus",     base::format_cpus(cores.noise)};
    if (cores.shared)
        words.emplace_back("--share");
    else
        words.insert(words.end(), {"--avoid", base::format_cpus(cores.job)});
    return words;
}

Split cores_for(const Request& request)
{
    base::check_cpus(request.job_cpus);
    base::check_cpus(request.noise_cpus);
    std::vector<base::Core> cores = base::physical_cores(base::allowed_cpus());
    if (request.cores_seed != 0) swap_neighbours(cores, request.cores_seed);
    return split_cores(cores, request.job_cpus, request.noise_cpus);
}

// The slots, as noisegen plans them. Nobody should wait for a job only to read that the schedule is malformed.
std::string slots_of(const Request& request, const Job& job, const Split& cores)
{
    std::vector<std::string> words = noise_words(request, job, cores);
    words.insert(words.end(), {"--duration", base::format(request.duration), "--designed", "--dry-run"});
    const Answer answer = answer_of(words, Errors::in_the_text);
    if (answer.code == base::exit_fine) return answer.text;
    const std::size_t last = answer.text.rfind("noisegen: ");
    const std::string why =
        base::join("noise of this schedule: ", base::trim(answer.text.substr(last == std::string::npos ? 0 : last)));
    if (answer.code == base::exit_usage) base::fail_usage(why);
    if (answer.code == base::exit_unavailable) base::unavailable(why);
    base::fail(why);
}

class Run {
 public:
    explicit Run(const Request& request) : request_{request}, cores_{cores_for(request)}, job_{request_, cores_.job}
    {
        if (!request.noise_launch.empty() && !job_.cooperates())
            base::fail_usage(
                "--noise-launch: a job on several nodes cannot be stopped from here, so it has to tell its steps and make "
                "the known delay: ddl-train, crosstalk-python or marks");
    }

    std::string slots() const { return slots_of(request_, job_, cores_); }

    void run()
    {
        base::bind_this_thread(cores_.noise);
        say_where();
        prepare_for_mpi();
        job_.measure_quiet_step();
        job_began_ns_ = base::now_ns();
        job_.start();
        wait_for_first_steps();
        keep_noise_off_the_job();
        start_noise();
        without_noise_ns_ = base::now_ns() - job_began_ns_;
        watch();
        end_noise();
        end_started_processes();
    }

    // Returns interference's exit code.
    int report()
    {
        std::vector<std::string> reading = job_.finish();
        if (job_.source() != StepSource::ddl_train)  // whose first steps alone are without noise
            reading.insert(reading.end(), {"--warmup", base::format(base::Nanoseconds{without_noise_ns_})});
        write_request(request_, reading);
        put_old_report_aside(request_);
        const int code = analyse(request_, cores_.noise);
        has_report_ = fs::exists(request_.whole / base::part::report);
        const bool no_report = code == base::exit_failed && !has_report_;
        if (code == base::exit_promise_not_kept || (no_report && ended_early_))
            throw Ended{base::exit_promise_not_kept, "noise did not cover the training"};
        return code;
    }

    // Of its own, and not of a part before.
    bool has_report() const { return has_report_; }

    void show() const
    {
        std::cout << "job, on CPUs " << base::format_cpus(cores_.job) << ":\n  " << job_.command_line()
                  << "\nnoise, on CPUs " << base::format_cpus(cores_.noise) << ":\n  "
                  << base::shell_words(with_launch(noise_words(request_, job_, cores_))) << "\n";
    }

 private:
    void say_where() const
    {
        base::warn("job on CPUs ", base::format_cpus(cores_.job), ", noise on ", base::format_cpus(cores_.noise), ": ",
                   schedule_of(request_, job_, cores_.noise));
        if (cores_.shared)
            base::warn(
                "noise and job share their cores: this measures what sharing a core costs, which idle cores "
                "don't");
    }

    std::vector<std::string> with_launch(const std::vector<std::string>& noise) const
    {
        std::vector<std::string> words = boost::program_options::split_unix(request_.noise_launch);
        words.insert(words.end(), noise.begin(), noise.end());
        return words;
    }

    void rest() const
    {
        base::end_if_stopped();
        base::sleep_until_ns(base::now_ns() + look_again_ns);
    }

    void wait_for_first_steps()
    {
        const std::int64_t begin_ns = base::now_ns();
        const std::size_t first_steps = job_.source() == StepSource::marks ? steps_for_the_delay : steps_before_noise;
        while (true) {
            if (!job_.running()) throw ended_by_itself("before noise could begin");
            const std::optional<std::size_t> steps = job_.steps_so_far();
            if (steps ? *steps >= first_steps : base::now_ns() - begin_ns >= start_up_ns) return;
            rest();
        }
    }

    // One that ended well was too short for noise to cover it.
    Ended ended_by_itself(const std::string& when) const
    {
        const int code = job_.exit_code();
        if (code == 0)
            return {base::exit_promise_not_kept,
                    base::join("the job ended ", when, ": let it take longer than a few seconds")};
        for (const std::string& line : job_.last_words()) base::warn(line);
        return {code == base::exit_usage ? base::exit_usage : base::exit_failed,
                base::join("the job failed ", when, " (", code, "): see ", job_.log().string())};
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
        // It is ended; this is for when nobody is there to do so, or the job is waited for.
        const std::int64_t beyond_ns = job_.source() == StepSource::scorep ? 86'400'000'000'000 : 600'000'000'000;
        std::vector<std::string> words = noise_words(request_, job_, cores_);
        words = with_launch(words);
        const std::string length = base::format(base::Nanoseconds{request_.duration.count() + beyond_ns});
        words.insert(words.end(), {"--duration", length, "--out", request_.out.string()});
        if (!request_.openmetrics.empty())
            words.insert(words.end(), {"--openmetrics", (request_.openmetrics / "noise.prom").string()});
        if (!job_.cooperates())
            for (const pid_t pid : victims_of(job_.pid())) words.insert(words.end(), {"--victim", std::to_string(pid)});
        const fs::path log = noise_log();
        noise_ = start({.words = words, .folder = {}, .output = log, .errors = log}, cores_.noise);
    }

    fs::path noise_log() const { return request_.out / base::part::log / "noise.log"; }

    bool noise_runs()
    {
        if (noise_->pid() == 0) return false;
        if (const std::optional<int> code = noise_->wait(base::Nanoseconds{0})) noise_code_ = *code;
        return noise_->pid() != 0;
    }

    void watch()
    {
        const std::int64_t begin_ns = base::now_ns();
        const std::int64_t end_ns = begin_ns + request_.duration.count();
        std::int64_t next_line_ns = begin_ns + line_every_ns;
        bool asked = false;
        std::int64_t asked_ns = 0;
        while (job_.running()) {
            const std::int64_t now_ns = base::now_ns();
            if (!ended_early_ && !asked && !noise_runs()) {
                ended_early_ = true;
                base::warn("noise ended before the job: see ", noise_log().string());
            }
            if (!asked && now_ns >= end_ns && !has_to_end_by_itself()) {
                asked = true;
                asked_ns = now_ns;
                if (job_.source() == StepSource::scorep)
                    end_job();
                else if (job_.source() != StepSource::ddl_train)
                    job_.stop();
            }
            if (asked && now_ns >= asked_ns + patience_to_end_ns) break;  // what is left is ended with all else
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
        const bool by_itself = !asked || (job_.source() == StepSource::ddl_train && !decided_);
        if (by_itself && job_.exit_code() != 0) throw ended_by_itself("beside the noise");
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
    void end_job() const
    {
        for (const pid_t pid : victims_of(job_.pid())) ::kill(pid, SIGTERM);
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
        std::vector<std::string> words{
            "nice", "-n", "19", program("interference"), "so-far", request_.out, "--budget", request_.budget, "--json"};
        if (request_.until_decided) words.insert(words.end(), {"--until", base::until_decided});
        const auto child = start({.words = words, .folder = {}, .output = file, .errors = file}, cores_.noise);
        if (wait_for(*child) != base::exit_fine) return {};
        const nlohmann::ordered_json found = base::read_json(file);
        decided_ = request_.until_decided && found.value("decided", false);
        return found.value("line", std::string{});
    }

    // SIGTERM lets noise finish its trace.
    void end_noise()
    {
        if (noise_runs()) {
            noise_->signal(SIGTERM);
            noise_code_ = noise_->wait();
        }
        // A launcher that is asked to end has a code of its own; then the archives tell.
        if (!request_.noise_launch.empty() && !ended_early_) return;
        if (noise_code_ != base::exit_fine && noise_code_ != base::exit_promise_not_kept)
            throw Ended{base::exit_promise_not_kept, base::join("noise did not cover the job: it failed (", noise_code_,
                                                                "), see ", noise_log().string())};
    }

    const Request& request_;
    Split cores_;
    Job job_;
    std::unique_ptr<base::Child> noise_;
    int noise_code_ = 0;
    std::int64_t job_began_ns_ = 0;
    std::int64_t without_noise_ns_ = 0;  // of the job's beginning; then noise gets ready
    bool ended_early_ = false;
    bool waits_for_its_end_ = false;
    bool decided_ = false;  // before the longest time was over
    bool has_report_ = false;
};

}  // namespace

int designed_run(const Request& request)
{
    Run run{request};
    const std::string slots = run.slots();
    const base::Descriptor lock = claim_directory(request);
    base::write_whole(request.out / base::part::log / "slots.txt", slots);
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
        throw;
    } catch (const base::UsageError& error) {
        write_status(request, base::exit_usage, error.what());
        export_failure(request, error.what());
        throw;
    } catch (const base::Error& error) {
        write_status(request, base::exit_failed, error.what());
        export_failure(request, error.what());
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
