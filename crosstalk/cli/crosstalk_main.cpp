// SPDX-License-Identifier: Apache-2.0
// crosstalk: measures how noise slows a job down, with one command from job to verdict.
#include "base/cli/commands.hpp"
#include "base/cli/option_checks.hpp"
#include "base/contract/run_directory.hpp"
#include "base/contract/run_words.hpp"
#include "base/contract/verdict_words.hpp"
#include "base/json.hpp"
#include "base/system/environment.hpp"
#include "base/system/stop.hpp"
#include "base/words.hpp"
#include "crosstalk/cli/commands.hpp"
#include "crosstalk/cli/run_options.hpp"
#include "crosstalk/doctor/doctor.hpp"
#include "crosstalk/run/designed_run.hpp"
#include "crosstalk/run/quick.hpp"
#include "crosstalk/run/request/run_directory.hpp"
#include "crosstalk/run/several_runs.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <optional>

#include <unistd.h>

namespace {

constexpr int most_runs = 1000;

// Checks a delay such as "5%", "4ms" or "0".
void check_control_delay(const std::string& text)
{
    if (text == "0") return;
    if (text.ends_with('%'))
        base::parsed<base::Percent>("--control-delay", text);
    else
        base::parsed<base::Nanoseconds>("--control-delay", text);
}

void check_fail_on(const std::string& words)
{
    const std::vector<std::string>& known = base::verdict_word::failing;
    for (const std::string& word : base::split(words, ','))
        if (std::find(known.begin(), known.end(), word) == known.end())
            base::fail_usage("--fail-on: unknown '", word, "'", base::did_you_mean(word, known));
}

void check_folder(const char* option, const std::filesystem::path& folder)
{
    if (::access((folder / "").c_str(), W_OK) != 0)
        base::fail_usage(option, ": cannot write into ", folder.string(), ": ", std::strerror(errno));
}

class RunCommand : public base::Command {
 public:
    RunCommand()
        : Command{"crosstalk run", "runs a job with noise in random slots, and reports the slowdown by each noise"}
    {
        options.add_positional("COMMAND", request_.command, "the job and its arguments, after --", 0);
        options.synopsis("[options] -- COMMAND [ARGUMENT...]");
        options.group("The run");
        options.add("out", out_, "directory of the run (default: crosstalk-NUMBER, the first free one)", "DIR");
        options.add("duration", duration_, "how long noise runs; a job that takes longer gets SIGTERM", "TIME");
        options.add("first-step", first_step_, "timeout of the job's first steps", "TIME");
        options.add_choice(
            "until", until_, {base::until_decided},
            "decided: stop when every verdict is decided, with intervals widened for repeated checks; needs a job "
            "that reports its steps");
        options.add("max-duration", max_duration_, "upper limit of --until", "TIME");
        options.add(
            "runs", runs_,
            "N runs, DIR/run-1, DIR/run-2, .., each with a new start, order of noise and cores; one pooled report",
            "NUMBER");
        options.add_switch("quick", quick_,
                           "a coarse answer within a minute of the first step: 30 s of two noises; reports which "
                           "effects it could have seen");
        options.add(
            "extend", extend_,
            "add --duration to the run in DIR, or --runs to the set in DIR: same job and noise, new random order, "
            "one pooled report; takes no COMMAND",
            "DIR");
        options.add("schedule", request_.schedule,
                    "schedule of noisegen; auto: every stressor, placebo and positive control as a rotation, or as a "
                    "factorial if there is a core for each stressor",
                    "SCHEDULE");
        options.add("noises", request_.noises, "the stressors of --schedule auto", "LIST");
        options.add("slot", request_.slot,
                    "slot of --schedule auto; auto: ten steps if the job reports steps, else 1 s", "TIME");
        options.add("seed", request_.seed, "seed of the random order", "NUMBER");
        options.add("cpus", job_cpus_, "CPUs of the job (default: cores not in --noise-cpus, or every other core)",
                    "LIST");
        options.add("noise-cpus", noise_cpus_, "CPUs of the noise (default: cores not in --cpus, or every other core)",
                    "LIST");
        options.add_choice(
            "back-end", request_.back_end, {"local", "step"},
            "local: on this machine; step: job and noise as two steps of the current Slurm job "
            "(co-schedule.sbatch), where COMMAND is that of one rank, without mpirun, and reports its steps");
        options.add("ranks-per-node", request_.ranks_per_node,
                    "with step: ranks of the job (default: one per GPU, or one)", "NUMBER");
        options.add("gpus-per-node", request_.gpus_per_node,
                    "with step: GPUs of the job; each rank is bound to cores near its GPU", "NUMBER");
        options.add(
            "noise-launch", request_.noise_launch,
            "for a job on several nodes: launcher of one noisegen per node, 'mpirun -n 2 --host n1,n2'; CPUs are "
            "the same on all",
            "WORDS");
        options.add(
            "control-delay", request_.control_delay,
            "known delay of ddl-train as positive control: a time, or a share of a quiet step, measured first; 0: "
            "use control.pause instead, as for other jobs",
            "DELAY");
        options.add_choice(
            "evidence", request_.evidence,
            {base::evidence_word::by_rights, base::evidence_word::cheap, base::evidence_word::off},
            "evidence that trace-os records during the job. auto: by eBPF programs, which name the tasks that take the "
            "job's CPUs, if this user may load them, else as cheap; cheap: the kernel's counters; off: none");
        options.add_switch("dry-run", dry_run_, "print the commands without running them, and exit");
        crosstalk::add_step_options(options, request_);
        options.group("The result");
        options.add("budget", request_.budget, "acceptable slowdown of a step", "PERCENT");
        options.add("fail-on", request_.fail_on,
                    "exit code 1 if the report is any of: unsafe, undecided, insensitive, untrusted", "LIST");
        options.add("export-markdown", markdown_, "write the verdicts as a Markdown table", "FILE");
        options.add("export-json", json_, "copy the report's verdict.json", "FILE");
        options.add("export-csv", csv_, "copy the report's effects.csv", "FILE");
        options.add("openmetrics", openmetrics_,
                    "folder of node exporter's text files: every 5 s write noise.prom (noise and its rate) and "
                    "training.prom (steps and step time of ddl-train or crosstalk-python)",
                    "DIR");
        options.add("export-junit", junit_, "write the verdicts as JUnit XML: one test per noise, unsafe ones fail",
                    "FILE");
        options.example("crosstalk run -- mpirun -n 8 ./program");
        options.example("crosstalk run --quick -- mpirun -n 8 ./program");
        options.example("crosstalk run -- mpirun -n 2 crosstalk-python train.py");
        options.example("crosstalk run --step-line 'step ([0-9]+)' -- python3 train.py");
        options.example("crosstalk run --runs 3 --out DIR -- mpirun -n 2 ddl-train");
        options.example("crosstalk run --extend DIR --duration 5min");
        options.example("crosstalk run --budget 0.5% -- mpirun -n 2 ddl-train --model 'emulated[compute=15ms]'");
        options.epilogue(
            "Exit codes: 0 fine, 1 failed, or --fail-on is met, 2 wrong usage, 3 noise did not cover the job.");
        options.see_also("noisegen(1), ddl-train(1), interference(1), trace-record(1)");
    }

    int run() override
    {
        if (!extend_.empty()) return extend();
        read();
        base::stop_on_signals();
        if (dry_run_) return crosstalk::show_designed_run(request_);
        if (quick_) return quick_run();
        return options.given("runs") ? crosstalk::several_runs(request_, runs_) : crosstalk::designed_run(request_);
    }

 private:
    void read()
    {
        if (request_.command.empty())
            base::fail_usage("no job given; use: crosstalk run -- COMMAND (crosstalk run --help)");
        if (options.given("noises") && options.given("schedule"))
            base::fail_usage("--noises is for --schedule auto; give only one of --noises and --schedule");
        if (quick_) read_quick();
        read_length();
        if (!job_cpus_.empty()) request_.job_cpus = base::parse_cpus(job_cpus_);
        if (!noise_cpus_.empty()) request_.noise_cpus = base::parse_cpus(noise_cpus_);
        check_back_end();
        check_control_delay(request_.control_delay);
        if (request_.control_delay.find_first_of("123456789") == std::string::npos) request_.control_delay = "0";
        crosstalk::check_budget(request_.budget);
        check_fail_on(request_.fail_on);
        request_.out = std::filesystem::absolute(out_.empty() ? free_directory() : std::filesystem::path{out_});
        request_.whole = request_.out;
        request_.folder = std::filesystem::current_path();
        request_.input = crosstalk::standard_input();
        request_.python = base::environment("PYTHON").value_or("");
        request_.first_steps_within = crosstalk::read_time("--first-step", first_step_);
        check_texts();
        read_exports();
        request_.again = options.given("runs") ? crosstalk::command_to_extend_set(request_, request_.out)
                                               : crosstalk::command_to_extend(request_, request_.out);
    }

    // Sets the options that --quick implies; options that are given take precedence.
    void read_quick()
    {
        for (const char* other : {"duration", "until", "max-duration", "runs"})
            if (options.given(other))
                base::fail_usage("--quick makes one run with ", crosstalk::quick::duration,
                                 " of noise, and cannot be combined with --", other);
        duration_ = crosstalk::quick::duration;
        if (!options.given("noises")) request_.noises = crosstalk::quick::noises;
        request_.blind_slot = crosstalk::quick::slot_of_unseen_steps;
    }

    int quick_run()
    {
        const int code = crosstalk::designed_run(request_);
        if (const std::string coarse = crosstalk::how_coarse(request_); !coarse.empty()) base::warn(coarse);
        return code;
    }

    void check_back_end() const
    {
        if (request_.back_end == "step") {
            if (!request_.noise_launch.empty())
                base::fail_usage("--noise-launch: --back-end step starts the noise itself");
            base::check_within(0, 10'000, request_.ranks_per_node, "--ranks-per-node");
            base::check_within(0, 1'000, request_.gpus_per_node, "--gpus-per-node");
            return;
        }
        for (const char* name : {"ranks-per-node", "gpus-per-node"})
            if (options.given(name)) base::fail_usage("--", name, " needs --back-end step");
    }

    // The records of a run are JSON, and --extend executes the commands in them, so texts must be UTF-8.
    void check_texts() const
    {
        std::vector<std::string> texts = request_.command;
        texts.insert(texts.end(), {request_.folder.string(), request_.out.string(), request_.steps, request_.schedule,
                                   request_.step_line, request_.step_region, request_.step_from, request_.noise_launch,
                                   markdown_, json_, csv_, junit_, openmetrics_});
        for (const std::string& text : texts)
            if (!base::is_utf8(text)) base::fail_usage("'", text, "' is not UTF-8");
    }

    // Makes the path absolute, since an extended run continues in its original folder. A path that cannot be written is
    // refused before the run rather than after it.
    std::filesystem::path file_to_write(const char* option, const std::string& text) const
    {
        namespace fs = std::filesystem;
        if (text.empty()) return {};
        const fs::path file = fs::absolute(text).lexically_normal();
        const fs::path folder = file.parent_path();
        if (file == (request_.out / file.filename()).lexically_normal()) return file;  // the run will create the folder
        std::error_code unknown;
        const fs::file_status found = fs::symlink_status(file, unknown);
        if (fs::exists(found) && !fs::is_regular_file(found))
            base::fail_usage(option, ": ", text, " exists and is not a regular file");
        check_folder(option, folder);
        return file;
    }

    void read_exports()
    {
        request_.exports.markdown = file_to_write("--export-markdown", markdown_);
        request_.exports.json = file_to_write("--export-json", json_);
        request_.exports.csv = file_to_write("--export-csv", csv_);
        request_.exports.junit = file_to_write("--export-junit", junit_);
        if (openmetrics_.empty()) return;
        request_.openmetrics = std::filesystem::absolute(openmetrics_).lexically_normal();
        check_folder("--openmetrics", request_.openmetrics);
    }

    void read_length()
    {
        request_.until_decided = until_ == base::until_decided;
        if (runs_ < 1 || runs_ > most_runs) base::fail_usage("--runs must be from 1 to ", most_runs);
        if (request_.until_decided && options.given("runs")) base::fail_usage("give only one of --until and --runs");
        if (request_.until_decided && options.given("duration"))
            base::fail_usage("--until decided takes no --duration, but --max-duration");
        if (options.given("max-duration") && !request_.until_decided)
            base::fail_usage("--max-duration needs --until decided");
        request_.duration = request_.until_decided ? crosstalk::read_time("--max-duration", max_duration_)
                                                   : crosstalk::read_time("--duration", duration_);
    }

    // Extends a run; all options but those for the extension are refused.
    int extend()
    {
        for (const char* other :
             {"schedule",       "slot",          "seed",      "cpus",        "noise-cpus", "control-delay",
              "ranks-per-node", "gpus-per-node", "step-from", "step-region", "step-every", "step-line",
              "steps",          "first-step",    "budget",    "out",         "until",      "max-duration",
              "noises",         "quick",         "evidence"})
            if (options.given(other))
                base::fail_usage("--extend repeats the settings of ", extend_, ": omit --", other);
        if (!request_.command.empty()) base::fail_usage("--extend runs the job of ", extend_, ": omit the command");
        if (runs_ < 1 || runs_ > most_runs) base::fail_usage("--runs must be from 1 to ", most_runs);
        if (dry_run_) base::fail_usage("--dry-run cannot be combined with --extend");
        if (!std::filesystem::is_directory(extend_)) base::fail("there is no directory ", extend_);
        check_fail_on(request_.fail_on);
        request_.out = std::filesystem::canonical(extend_);
        request_.duration =
            options.given("duration") ? crosstalk::read_time("--duration", duration_) : base::Nanoseconds{0};
        read_exports();
        base::stop_on_signals();
        return crosstalk::extended(request_, runs_);
    }

    std::filesystem::path free_directory()
    {
        return dry_run_ ? crosstalk::FreeDirectory::seen() : free_directory_.emplace().path();
    }

    crosstalk::Request request_;
    std::optional<crosstalk::FreeDirectory> free_directory_;
    std::string out_;
    std::string duration_ = "150s";
    std::string max_duration_ = "15min";
    std::string first_step_ = "10min";
    std::string until_;
    std::string extend_;
    int runs_ = 1;
    std::string job_cpus_;
    std::string noise_cpus_;
    std::string markdown_;
    std::string json_;
    std::string csv_;
    std::string junit_;
    std::string openmetrics_;
    bool dry_run_ = false;
    bool quick_ = false;
};

class DoctorCommand : public base::Command {
 public:
    DoctorCommand() : Command{"crosstalk doctor", "checks whether runs work on this machine and what it lacks"}
    {
        options.add_switch("json", json_, "print it as JSON");
        options.example("crosstalk doctor");
        options.epilogue("Exit codes: 0 a run works here, 77 a requirement of every run is missing.");
    }

    int run() override
    {
        const std::vector<crosstalk::Finding> findings = crosstalk::examine();
        if (json_)
            crosstalk::print_json(std::cout, findings);
        else
            crosstalk::print(std::cout, findings);
        base::flush_stdout();
        return crosstalk::can_run(findings) ? base::exit_fine : base::exit_unavailable;
    }

 private:
    bool json_ = false;
};

class CampaignCommand : public base::CommandGroup {
 public:
    CampaignCommand()
        : CommandGroup{"crosstalk campaign", "plans, runs and reports many runs from one file",
                       crosstalk::campaign_commands()}
    {
        options.example("crosstalk campaign plan seed-study.ini -o DIR");
        options.example("crosstalk campaign run DIR");
        options.example("crosstalk campaign collect DIR");
    }
};

}  // namespace

int main(int argc, char** argv)
try {
    base::occupy_closed_streams();
    base::Options options{"crosstalk", "measures how noise slows a job: one command from job to verdict"};
    return base::run_program(options,
                             base::commands<RunCommand, crosstalk::CoresCommand, crosstalk::TryCommand,
                                            crosstalk::SweepCommand, crosstalk::ViewCommand, crosstalk::DiffCommand,
                                            CampaignCommand, crosstalk::PruneCommand, DoctorCommand>(),
                             argc, argv);
} catch (...) {
    return base::report_failure("crosstalk");
}
