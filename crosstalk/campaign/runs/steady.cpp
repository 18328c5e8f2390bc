// SPDX-License-Identifier: Apache-2.0
// Runs with constant noise, or without noise, and the check that the noise covered the training.
#include "base/contract/campaign_directory.hpp"
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/system/clock.hpp"
#include "base/system/processes.hpp"
#include "base/words.hpp"
#include "crosstalk/campaign/directory.hpp"
#include "crosstalk/campaign/proof.hpp"
#include "crosstalk/campaign/runs/one_run.hpp"
#include "crosstalk/campaign/runs/run_words.hpp"
#include "crosstalk/programs/programs.hpp"
#include "crosstalk/run/job.hpp"
#include "crosstalk/run/request/ended.hpp"

#include <nlohmann/json.hpp>

#include <fstream>
#include <ostream>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t noise_on_within_ns = 60'000'000'000;
constexpr std::int64_t to_end_within_ns = 60'000'000'000;  // after its duration
constexpr base::Nanoseconds noise_ends_within = std::chrono::seconds{15};

bool is_quiet(const PlannedRun& run)
{
    return run.noise == base::campaign::no_noise;
}

Request request_of(const OneRun& one, const Placement& placement)
{
    Request request;
    request.command = one.launcher.job(placement);
    const Words words = training_words(one.run, one.spec);
    request.command.insert(request.command.end(), words.begin(), words.end());
    request.out = one.directory;
    request.duration = one.spec.duration;
    request.control_delay = "0";
    request.step_line = one.spec.step_line;
    request.step_from = one.spec.step_from;
    request.step_region = one.spec.step_region;
    request.ends_job = false;
    return request;
}

Words whole_noise_words(const OneRun& one, const Placement& placement)
{
    Words words = one.launcher.noise(placement);
    const Words own = noise_words(one.run, one.spec, placement.cores);
    words.insert(words.end(), own.begin(), own.end());
    words.insert(words.end(), {"--out", one.directory.string()});
    return words;
}

class SteadyRun {
 public:
    explicit SteadyRun(const OneRun& one) : one_{one}, placement_{placement_of(one.run, one.spec, one.launcher)} {}

    // Ends job and noise, however the run ended.
    ~SteadyRun()
    {
        try {
            if (!all_ended_) end_both();
        } catch (const std::exception& error) {
            base::warn(error.what());
        }
        end_started_processes();
    }
    SteadyRun(const SteadyRun&) = delete;
    SteadyRun& operator=(const SteadyRun&) = delete;

    std::string make()
    {
        if (!is_quiet(one_.run)) start_noise();
        const std::int64_t start_ns = base::now_ns() + one_.run.wait_ms * 1'000'000;
        while (base::now_ns() < start_ns) rest();
        start_job();
        watch();
        end_noise();
        all_ended_ = true;
        write_steps();
        const TrainingByNode training = training_by_node(one_.directory, one_.spec.warmup, bound_);
        const NoiseByNode noise = noise_by_node(one_.directory);
        const nlohmann::ordered_json proof{{"each_node", proof_by_node(training, noise)}};
        base::write_whole(one_.directory / base::file::status,
                          base::json_text(proof, base::one_line) + "\n");  // the driver adds the other members
        return why_not_covered(training, noise, asked());
    }

 private:
    // Ends job and noise, even if the process started for them has ended: Slurm tasks may outlive their srun.
    void end_both()
    {
        if (job_ && job_->started()) one_.launcher.end_job(job_->child());
        if (!noise_) return;
        one_.launcher.end_noise(*noise_);
        if (noise_->pid() != 0) noise_->wait(noise_ends_within);
    }

    void rest() const
    {
        one_.look_up();
        base::sleep_until_ns(base::now_ns() + look_up_every_ns);
    }

    fs::path noise_log() const { return one_.directory / base::part::log / "noise.log"; }

    void start_noise()
    {
        noise_ = start(
            {.words = whole_noise_words(one_, placement_), .folder = {}, .output = noise_log(), .errors = noise_log()},
            placement_.cores.noise);
        const std::int64_t until_ns = base::now_ns() + noise_on_within_ns;
        while (nodes_with_noise() < one_.launcher.nodes()) {
            fail_if_noise_ended();
            if (base::now_ns() > until_ns)
                throw Ended{base::exit_promise_not_kept, "noise did not start within a minute"};
            rest();
        }
    }

    // Called after the noise has started: of two jobs, the training's must be on the noise's node.
    void start_job()
    {
        request_ = request_of(one_, placement_);
        job_ = std::make_unique<Job>(request_, placement_.cores.job);
        if (job_->source().writes_archive_at_its_end())
            base::fail_usage(
                "campaigns cannot use Score-P archives: set SCOREP_ENABLE_TRACING=false to take steps from MPI "
                "calls or lines");
        job_->start();
    }

    // Number of nodes that have recorded a first slot.
    int nodes_with_noise() const
    {
        std::set<std::string> nodes;
        for (const auto& [node, slots] : noise_by_node(one_.directory))
            if (!slots.empty()) nodes.insert(node);
        return static_cast<int>(nodes.size());
    }

    void fail_if_noise_ended()
    {
        if (!noise_ || noise_->pid() == 0) return;
        const std::optional<int> code = noise_->wait(base::Nanoseconds{0});
        if (code)
            throw Ended{base::exit_promise_not_kept,
                        base::join("noise ended early (", *code, "): ", last_line(noise_log()))};
    }

    void watch()
    {
        const std::int64_t begin_ns = base::now_ns();
        const std::int64_t first_step_ns = begin_ns + one_.spec.start_within.count();
        const std::int64_t last_ns = first_step_ns + one_.spec.duration.count() + to_end_within_ns;
        bool stepped = false;
        bool asked_to_end = false;
        while (job_->running()) {
            fail_if_noise_ended();
            stepped = stepped || job_->source().steps_so_far().value_or(1) > 0;
            if (!stepped && base::now_ns() > first_step_ns) {
                one_.launcher.end_job(job_->child());
                throw Ended{base::exit_failed,
                            base::join("the training took no step within ", base::format(one_.spec.start_within),
                                       ": does another job step use its CPUs (srun without --overlap)?")};
            }
            if (base::now_ns() > last_ns)
                throw Ended{base::exit_failed, base::join("the training did not end within ",
                                                          base::format(base::Nanoseconds{last_ns - begin_ns}))};
            add_bound_cpus();
            if (!asked_to_end && ends_only_if_asked() && base::now_ns() > begin_ns + one_.spec.duration.count()) {
                asked_to_end = true;
                one_.launcher.end_job(job_->child());
            }
            rest();
        }
        if (job_->exit_code() != 0 && !asked_to_end)
            throw Ended{base::exit_failed, base::join("the training failed (", job_->exit_code(), ")", last_words())};
        fail_if_noise_ended();
    }

    std::string last_words() const
    {
        const std::vector<std::string> words = job_->last_words();
        return words.empty() ? "" : ": " + base::shortened(base::printable(message_in(words.back())), 120);
    }

    bool ends_only_if_asked() const { return !job_->source().is_complete_training(); }

    // Adds the CPUs that the job's processes may really use, if the job does not record them.
    void add_bound_cpus()
    {
        if (job_->source().is_complete_training()) return;
        for (const pid_t pid : base::with_descendants({job_->pid()}, base::processes()))
            bound_.merge(base::affinity_of(pid));
    }

    void end_noise()
    {
        if (!noise_) return;
        one_.launcher.end_noise(*noise_);
        if (!noise_->wait(noise_ends_within)) throw Ended{base::exit_failed, "noise did not end on SIGTERM"};
    }

    // Writes a table of steps from an archive if the job has left no table.
    void write_steps()
    {
        const fs::path part = one_.directory / base::part::train;
        Words words = job_->finish();
        if (std::find(words.begin(), words.end(), "--clock-offset") != words.end())
            throw Ended{base::exit_failed, "the job wrote a Score-P archive, which campaigns cannot use"};
        if (fs::exists(part / base::file::steps)) return;
        words.insert(words.begin(), {program("trace-steps"), (part / base::file::anchor_in_part).string()});
        words.insert(words.end(), {"-o", (one_.directory / "steps").string()});
        const fs::path log = one_.directory / base::part::log / "steps.log";
        if (wait_for(*start({.words = words, .folder = {}, .output = log, .errors = log}, placement_.cores.job)) != 0)
            throw Ended{base::exit_failed, base::join("the job shows no steps: ", last_line(log))};
        fs::rename(one_.directory / "steps" / base::file::steps, part / base::file::steps);
        base::remove_tree(one_.directory / "steps");
    }

    AskedNoise asked() const
    {
        AskedNoise asked{.none = is_quiet(one_.run),
                         .may_share = placement_.cores.shared,
                         .cpus = placement_.cores.noise,
                         .cpu_count = 0};
        if (placement_.cores.noise.empty() && one_.run.cores != "all")
            asked.cpu_count = base::parse<std::uint64_t>(one_.run.cores);
        return asked;
    }

    const OneRun& one_;
    Placement placement_;
    Request request_;
    std::unique_ptr<Job> job_;
    std::unique_ptr<base::Child> noise_;
    base::CpuSet bound_;
    bool all_ended_ = false;  // all processes ended in good order
};

}  // namespace

std::string make_steady_run(const OneRun& one)
{
    return SteadyRun{one}.make();
}

void show_steady_run(std::ostream& out, const OneRun& one)
{
    const Placement placement = placement_of(one.run, one.spec, one.launcher);
    const Request request = request_of(one, placement);
    if (!is_quiet(one.run)) out << "  " << base::shell_words(whole_noise_words(one, placement)) << "\n";
    out << "  " << Job{request, placement.cores.job}.command_line() << "\n";
}

}  // namespace crosstalk
