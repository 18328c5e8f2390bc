// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/campaign/sweep/sweep_run.hpp"

#include "base/cli/progress.hpp"
#include "base/contract/campaign_directory.hpp"
#include "base/contract/run_directory.hpp"
#include "base/csv.hpp"
#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/system/clock.hpp"
#include "base/system/environment.hpp"
#include "base/system/launcher.hpp"
#include "base/system/processes.hpp"
#include "base/system/stop.hpp"
#include "base/system/waiting.hpp"
#include "base/words.hpp"
#include "crosstalk/campaign/spec_keys.hpp"
#include "crosstalk/campaign/sweep/free_cores.hpp"
#include "crosstalk/campaign/sweep/sweep_page.hpp"
#include "crosstalk/campaign/sweep/sweep_spec.hpp"
#include "crosstalk/programs/guardian.hpp"
#include "crosstalk/programs/programs.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <csignal>
#include <cstdlib>
#include <iostream>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

constexpr const char* spec_of_workers = "sweep.json";
constexpr int most_killed_in_a_row = 20;  // workers killed without a trial that ended

Words python_words(const std::string& word, const fs::path& directory)
{
    const std::string python = base::environment("PYTHON").value_or("python3");
    if (!found_on_path(python)) base::unavailable("no ", python, ": a sweep needs Python (Debian: python3)");
    return {python, script("../python/sweep").string(), word, directory.string()};
}

std::string last_line(const std::string& text)
{
    const std::vector<std::string> lines = lines_of(text);
    return lines.empty() ? "a worker gave no reason" : lines.back();
}

// Throws the exception that stands for this exit code of the Python part.
[[noreturn]] void fail_as(int code, const std::string& text)
{
    if (code == base::exit_unavailable) base::unavailable(last_line(text));
    if (code == base::exit_usage) base::fail_usage(last_line(text));
    base::fail(last_line(text));
}

std::string lock_name()
{
    std::string name = "driver-" + base::host_name();
    for (const char* variable : {"SLURM_JOB_ID", "SLURM_ARRAY_TASK_ID"})  // tasks of an array may share a machine
        if (const auto value = base::environment(variable)) name += "-" + *value;
    return name + ".lock";
}

std::optional<base::Descriptor> locked(const fs::path& directory)
{
    const fs::path file = directory / lock_name();
    base::Descriptor lock =
        base::check_errno(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644), "open ", file.string());
    if (::flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return std::nullopt;
    return lock;
}

class Worker {
 public:
    Worker(const fs::path& directory, base::CpuSet cpus)
        : directory_{directory},
          cpus_{std::move(cpus)},
          errors_{base::check_errno(::memfd_create("errors", MFD_CLOEXEC), "get memory for messages")}
    {
        start_again();
    }

    void start_again()
    {
        Words words = python_words("work", directory_);
        words.push_back(base::format_cpus(cpus_));
        child_ =
            start({.words = words, .output = "/dev/null", .errors = base::join("/proc/self/fd/", int{errors_})}, cpus_);
    }

    const base::CpuSet& cpus() const { return cpus_; }
    pid_t pid() const { return child_->pid(); }  // 0: it has ended
    std::optional<int> ended() { return child_->wait(base::Nanoseconds{0}); }
    std::string said() const
    {
        std::array<char, 4096> text{};
        std::string all;
        ssize_t count = 0;
        while ((count = ::pread(errors_, text.data(), text.size(), static_cast<off_t>(all.size()))) > 0)
            all.append(text.data(), static_cast<std::size_t>(count));
        return all;
    }

 private:
    fs::path directory_;
    base::CpuSet cpus_;
    base::Descriptor errors_;  // memory, since the disk may be full
    std::unique_ptr<base::Child> child_;
};

class SweepDriver {
 public:
    SweepDriver(const fs::path& directory, const base::CpuSet& cpus, const SweepSpec& spec)
        : directory_{directory}, trials_{spec.trials}, progress_{"sweep"}
    {
        const std::vector<Holder> holders = trainings_here();
        for (const Holder& one : holders)
            if (!one.bound) {
                base::warn("the training in ", one.run.string(), " is not bound, so workers share its cores");
                break;
            }
        if (!cpus.empty()) {
            base::check_cpus(cpus);
            if (const auto held = who_holds(cpus, holders)) base::fail_usage("--cpus: ", *held);
        }
        place_workers(cpus.empty() ? base::allowed_cpus() : cpus, holders, spec);
    }

    void drive()
    {
        for (const base::CpuSet& cpus : places_) workers_.push_back(std::make_unique<Worker>(directory_, cpus));
        const auto works = [](const auto& worker) { return worker->pid() != 0; };
        while (std::any_of(workers_.begin(), workers_.end(), works)) {
            base::end_if_stopped();
            for (const auto& worker : workers_)
                if (works(worker)) look_after(*worker);
            look_up();
            base::sleep_until_ns(base::now_ns() + look_again_ns);
        }
    }

 private:
    // Chooses cores that no other sweep uses, or else shares cores with other sweeps. Sharing is allowed because the
    // other sweep may be idle at present, for example frozen as noise outside of its slots.
    void place_workers(const base::CpuSet& allowed, const std::vector<Holder>& holders, const SweepSpec& spec)
    {
        base::CpuSet own = allowed;
        for (const int cpu : cpus_of_other_sweeps(directory_)) own.erase(cpu);
        try {
            places_ = cores_of_workers(own, holders, spec.cores, spec.workers);
        } catch (const base::UsageError&) {
            places_ = cores_of_workers(allowed, holders, spec.cores, spec.workers);
            base::warn("workers of another sweep run on the same cores");
        }
    }

    static constexpr std::int64_t look_again_ns = 100'000'000;
    static constexpr std::int64_t look_at_trainings_ns = 30'000'000'000;

    void look_after(Worker& worker)
    {
        const std::optional<int> code = worker.ended();
        if (!code || *code == base::exit_fine) return;
        constexpr int by_signal = 128;
        if (*code < by_signal) fail_as(*code, worker.said());
        const int ended = sweep_standing(directory_).ended;
        killed_ = ended > ended_at_kill_ ? 1 : killed_ + 1;
        ended_at_kill_ = ended;
        if (killed_ > most_killed_in_a_row)
            base::fail("workers are killed before their trials end: see ", (directory_ / "trials").string());
        end_orphans();
        if (const auto held = who_holds(worker.cpus(), trainings_here())) base::fail(*held);
        worker.start_again();
    }

    // Kills what a killed worker has left running, which this process has adopted.
    void end_orphans() const
    {
        const std::map<pid_t, base::Process> all = base::processes();
        for (const auto& [pid, process] : all) {
            const auto is_this = [child = pid](const auto& worker) { return worker->pid() == child; };
            if (process.parent == ::getpid() && std::none_of(workers_.begin(), workers_.end(), is_this))
                for (const pid_t one : base::with_descendants({pid}, all)) ::kill(one, SIGKILL);
        }
    }

    void look_up()
    {
        if (base::now_ns() > next_look_ns_) {
            next_look_ns_ = base::now_ns() + look_at_trainings_ns;
            const std::vector<Holder> holders = trainings_here();
            for (const base::CpuSet& cpus : places_)
                if (const auto held = who_holds(cpus, holders)) base::fail("a worker's cores: ", *held);
        }
        if (!progress_.due()) return;
        const SweepStanding now = sweep_standing(directory_);
        progress_.show(static_cast<double>(now.ended) / trials_, base::join(now.ended, " of ", trials_, " trials"));
    }

    const fs::path& directory_;
    int trials_;
    std::vector<base::CpuSet> places_;
    std::vector<std::unique_ptr<Worker>> workers_;
    int killed_ = 0;
    int ended_at_kill_ = 0;
    std::int64_t next_look_ns_ = base::now_ns() + look_at_trainings_ns;
    base::Progress progress_;
};

// The output of the Python part for a word. Throws the exception that stands for its exit code.
std::string answer_of_python(const std::string& word, const fs::path& directory)
{
    const Answer answer = answer_of(python_words(word, directory), Errors::in_the_text);
    if (answer.code != base::exit_fine) fail_as(answer.code, answer.text);
    return answer.text;
}

// The spec, which the workers' copy must agree with: trials of another spec would go to the same journal.
SweepSpec spec_of_all(const fs::path& directory)
{
    const fs::path file = directory / base::campaign::spec;
    const fs::path of_workers = directory / spec_of_workers;
    SweepSpec spec = read_sweep_spec(file);
    if (base::read_whole(of_workers, 16 * longest_spec) != json_of(spec))
        base::fail(file.string(), " and ", of_workers.string(), " differ: one was changed after the sweep began");
    return spec;
}

// The summary that the Python part prints.
nlohmann::ordered_json summary_of(const fs::path& directory)
{
    return base::parse_json(last_line(answer_of_python("table", directory)), "the sweep's summary");
}

std::string best_of(const nlohmann::ordered_json& summary)
{
    const nlohmann::ordered_json& best = summary.at("best");
    if (best.is_null()) return "no trial has a value";
    std::vector<std::string> parameters;
    for (const auto& [name, value] : best.at("parameters").items())
        parameters.push_back(name + "=" +
                             (value.is_string()         ? value.get<std::string>()
                              : value.is_number_float() ? base::join(value.get<double>())
                                                        : value.dump()));
    return base::join("best: trial ", best.at("trial").get<int>(), ", ", best.at("value").get<double>(), " with ",
                      base::join_words(parameters, " "));
}

}  // namespace

void make_sweep(const std::string& spec, const fs::path& directory)
{
    base::WholeDirectory whole{directory};
    const fs::path file = whole.path() / base::campaign::spec;
    base::write_whole(file, spec);
    const SweepSpec parsed = read_sweep_spec(file);
    base::write_whole(whole.path() / spec_of_workers, json_of(parsed));
    if (!parsed.value_line.empty()) answer_of_python("check", whole.path());
    whole.finish();
}

int run_sweep(const fs::path& given, const base::CpuSet& cpus)
{
    const fs::path directory = fs::canonical(given);
    const SweepSpec spec = spec_of_all(directory);
    std::optional<base::Descriptor> lock;
    const auto has_lock = [&] { return (lock = locked(directory)).has_value(); };
    constexpr std::int64_t patience_ns = 15'000'000'000;  // until the guardian of a killed sweep has ended all
    if (!base::wait_until(has_lock, patience_ns, 100'000'000))
        base::fail_usage(directory.string(), " is being run by another crosstalk sweep");
    answer_of_python("begin", directory);
    base::stop_on_signals();
    prepare_for_mpi();
    const fs::path programs = path_of_program("").parent_path();
    ::setenv("PATH", (programs.string() + ":" + base::environment("PATH").value_or("")).c_str(), 1);
    SweepDriver driver{directory, cpus, spec};
    const Guardian guardian{directory};
    const EndsWhatWasStarted guard;
    driver.drive();
    return base::exit_fine;
}

SweepStanding sweep_standing(const fs::path& directory)
{
    SweepStanding standing{.trials = read_sweep_spec(directory / base::campaign::spec).trials,
                           .is_being_run = !locked(directory)};
    const fs::path file = directory / base::campaign::sweep_table;
    if (!fs::exists(file)) return standing;
    const base::CsvTable table{file};
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const std::string& state = table.text(row, "state");
        if (table.text(row, "counts") != "yes") continue;
        standing.running += state == "running" ? 1 : 0;
        standing.failed += state == "failed" ? 1 : 0;
        standing.ended += state == "running" || state == "waiting" ? 0 : 1;
    }
    return standing;
}

int collect_sweep(const fs::path& given)
{
    const fs::path directory = fs::canonical(given);
    const SweepSpec spec = spec_of_all(directory);
    const nlohmann::ordered_json summary = summary_of(directory);
    const auto& failed = summary.at("failed");
    for (const auto& one : failed)
        base::warn("trial ", one.at(0).get<int>(), " failed: ", one.at(1).get<std::string>());
    const auto results = summary.at("complete").get<int>() + summary.at("pruned").get<int>();
    if (results == 0 && failed.empty()) base::fail("no trial has ended yet: ", directory.string());
    write_sweep_page(directory, spec, best_of(summary));
    std::cout << base::printable(base::join(results, " of ", spec.trials, " trials have a result; ", best_of(summary)))
              << "\nreport: " << base::printable((directory / base::part::report / "index.html").string()) << "\n";
    base::flush_stdout();
    return results == spec.trials ? base::exit_fine : base::exit_promise_not_kept;
}

}  // namespace crosstalk
