// SPDX-License-Identifier: Apache-2.0
// trace-os: records the tasks and interrupts that keep a job's threads from running, on the clock of the job's trace.
#include "base/cli/option_checks.hpp"
#include "base/cli/options.hpp"
#include "base/contract/control_file.hpp"
#include "base/contract/run_directory.hpp"
#include "base/contract/run_record.hpp"
#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/programs/child.hpp"
#include "base/system/launcher.hpp"
#include "base/system/processes.hpp"
#include "base/system/stop.hpp"
#include "base/system/waiting.hpp"
#include "base/words.hpp"
#include "trace-tools/os/counters.hpp"
#include "trace-tools/os/kernel_events.hpp"
#include "trace-tools/os/perf_counters.hpp"
#include "trace-tools/os/recording.hpp"
#include "trace-tools/os/summary.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>

#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::int64_t wakes_every_ns = 50'000'000;
constexpr std::int64_t looks_for_threads_every_ns = 500'000'000;
constexpr std::int64_t sums_every_ns = 1'000'000'000;

struct Wanted {
    std::string pids;
    std::string length;  // empty: until the job ends
    std::string out;
    std::string bpf = "auto";
    std::string cpus;
    base::Nanoseconds interval = 100ms;
    base::Nanoseconds least = 2us;
    std::vector<std::string> program;
    bool sources = false;
    bool json = false;
};

// The ranks of the training in a run's directory that run on this host.
std::set<pid_t> ranks_in(const fs::path& run)
{
    const std::string host = base::host_name();
    const fs::path control = run / base::part::control / host;
    if (!fs::exists(control)) base::fail_usage("there is no ", control.string(), ", which names the ranks: give --pid");
    const std::set<pid_t> ranks = base::training_processes(base::ControlFile::open(run, host).page());
    if (ranks.empty()) base::fail_usage("no rank of the training in ", run.string(), " runs on this host");
    return ranks;
}

std::set<pid_t> processes_of(const std::string& text)
{
    std::set<pid_t> pids;
    for (const std::string& word : base::split(text, ',')) pids.insert(base::parsed<int>("--pid", word));
    const auto living = base::processes(pids);
    for (const pid_t pid : pids)
        if (!living.contains(pid)) base::fail_usage("--pid: there is no process ", pid, ", or it is hidden");
    return pids;
}

// Starts the eBPF programs, and appends them to the sources with what they lack.
std::unique_ptr<os::KernelEvents> start_events(const Wanted& wanted, const os::Job& job,
                                               std::vector<os::Source>& sources)
{
    std::string lacks = "disabled by --bpf off";
    std::unique_ptr<os::KernelEvents> events;
    if (wanted.bpf == "auto") events = os::KernelEvents::start(job, wanted.least.count(), lacks);
    sources.push_back({"bpf", "tasks and interrupts that take a CPU, and when", events != nullptr ? "" : lacks});
    return events;
}

std::vector<os::Source> sources_for(const os::Job& job)
{
    std::vector<os::Source> sources = os::Counters{}.sources(job);
    for (os::Source& source : os::PerfCounters{}.sources()) sources.push_back(std::move(source));
    return sources;
}

// Lists the sources for this process.
int list_sources(const Wanted& wanted)
{
    const os::Job own = os::job_of({::getpid()});
    std::vector<os::Source> sources = sources_for(own);
    start_events(wanted, own, sources);
    if (!wanted.json) {
        std::vector<std::vector<std::string>> lines{{"source", "gives", "lacks"}};
        for (const os::Source& source : sources) lines.push_back({source.name, source.gives, source.lacks});
        std::fputs(base::table_text(lines, 3).c_str(), stdout);
    } else {
        nlohmann::ordered_json all;
        all["format"] = base::format_version;
        for (const os::Source& source : sources)
            all["sources"].push_back({{"name", source.name}, {"gives", source.gives}, {"lacks", source.lacks}});
        std::printf("%s\n", base::json_text(all).c_str());
    }
    base::flush_stdout();
    return base::exit_fine;
}

// The observed job, and sums of the observations.
struct Watch {
    os::Job job;
    std::vector<os::Source> sources;
    os::Summary summary;
    std::size_t threads = 0;  // largest number at one time
    base::CpuSet cpus;        // CPUs of all threads, including those that have ended
    double seconds = 0.0;
    std::uint64_t lost = 0;
};

void take(Watch& watch, os::Recording* recording, const std::vector<base::os::Row>& rows)
{
    watch.summary.add(rows);
    if (recording != nullptr) recording->add(rows, watch.job);
}

// Observes until `end_ns`, the end of the job, or a stop signal.
void observe(Watch& watch, const Wanted& wanted, std::int64_t end_ns, os::KernelEvents* events,
             os::Recording* recording)
{
    os::Counters counters;
    os::PerfCounters perf;
    const std::int64_t begin_ns = base::now_ns();
    counters.read(watch.job, begin_ns);
    perf.read(watch.job, begin_ns);
    std::int64_t next_counters_ns = begin_ns + wanted.interval.count();
    std::int64_t next_threads_ns = begin_ns + looks_for_threads_every_ns;
    std::int64_t next_sums_ns = begin_ns + sums_every_ns;
    std::int64_t now_ns = begin_ns;
    while (!base::stop_requested() && !watch.job.ended() && now_ns < end_ns) {
        base::sleep_until_ns(std::min(now_ns + wakes_every_ns, end_ns));
        now_ns = base::now_ns();
        if (events != nullptr) take(watch, recording, events->read());
        if (now_ns >= next_threads_ns) {
            watch.job = os::job_of(watch.job.processes);
            watch.threads = std::max(watch.threads, watch.job.threads.size());
            watch.cpus.insert(watch.job.cpus.begin(), watch.job.cpus.end());
            if (events != nullptr) events->follow(watch.job);
            next_threads_ns = now_ns + looks_for_threads_every_ns;
        }
        if (now_ns >= next_counters_ns) {
            take(watch, recording, counters.read(watch.job, now_ns));
            take(watch, recording, perf.read(watch.job, now_ns));
            next_counters_ns = now_ns + wanted.interval.count();
        }
        if (events != nullptr && now_ns >= next_sums_ns) {
            take(watch, recording, events->read_sums(now_ns));
            next_sums_ns = now_ns + sums_every_ns;
        }
    }
    now_ns = base::now_ns();
    take(watch, recording, counters.read(watch.job, now_ns));
    take(watch, recording, perf.read(watch.job, now_ns));
    if (events != nullptr) {
        take(watch, recording, events->read());
        take(watch, recording, events->read_sums(base::now_ns()));
        watch.lost = events->lost();
    }
    watch.seconds = static_cast<double>(base::now_ns() - begin_ns) / 1e9;
}

void write_record(const fs::path& directory, const Wanted& wanted, const Watch& watch)
{
    nlohmann::ordered_json record = base::run_record("trace-os");
    record["format_version"] = base::format_version;
    record["seconds"] = watch.seconds;
    record["least_ns"] = wanted.least.count();
    record["interval_ns"] = wanted.interval.count();
    record["cpus"] = base::format_cpus(watch.cpus);
    record["threads"] = watch.threads;
    record["lost"] = watch.lost;
    for (const os::Source& source : watch.sources)
        record["sources"][source.name] = source.lacks.empty() ? nlohmann::json(true) : nlohmann::json(source.lacks);
    base::write_whole(directory / base::os::record, record.dump(2) + "\n");
}

// Pressure alone looks like a neighbour where it is the job's own quota.
std::string pressure_note(const Watch& watch)
{
    if (watch.summary.ns_of("psi", base::os::cause::pressure) == 0) return "";
    for (const os::Source& source : watch.sources)
        if (source.name == "cpu_stat" && !source.lacks.empty())
            return base::join("throttling, part of the pressure, is not known: ", source.lacks, "\n");
    const std::int64_t ns = watch.summary.ns_of("cpu_stat", base::os::cause::throttled);
    return base::join("throttling, part of the pressure: ", base::fixed(static_cast<double>(ns) / 1e6, 3), " ms\n");
}

void print(const Watch& watch, bool has_table)
{
    std::printf("%s on CPUs %s for %.1f s\n", base::counted(watch.threads, "thread").c_str(),
                base::format_cpus(watch.cpus).c_str(), watch.seconds);
    std::fputs(
        watch.summary
            .text(watch.seconds, 12, has_table ? base::join(", in ", base::os::table) : " (--out DIR lists them)")
            .c_str(),
        stdout);
    std::fputs(pressure_note(watch).c_str(), stdout);
    if (watch.lost > 0) base::warn(watch.lost, " interruptions are missing: the buffers were full");
    for (const os::Source& source : watch.sources)
        if (source.name == "bpf" && !source.lacks.empty())
            base::warn("interruptions are recorded without their causes: ", source.lacks);
}

// Splits the command line: words after "--" are the program's.
std::vector<char*> own_words(int argc, char** argv, std::vector<std::string>& program)
{
    const auto end = argv + argc;
    const auto dashes = std::find_if(argv + 1, end, [](const char* word) { return std::strcmp(word, "--") == 0; });
    if (dashes != end) program.assign(dashes + 1, end);
    return {argv, dashes};
}

int watch(const Wanted& wanted)
{
    const bool of_run = wanted.pids.empty() && wanted.program.empty() && !wanted.out.empty();
    if (!of_run && wanted.pids.empty() == wanted.program.empty())
        base::fail_usage("give processes or a program to watch: trace-os --pid PID 30s, or trace-os -- ./program");
    std::optional<base::Nanoseconds> length;
    if (!wanted.length.empty()) length = base::parsed<base::Nanoseconds>("TIME", wanted.length);
    if (length && *length <= 0ns) base::fail_usage("TIME must be more than 0, not ", wanted.length);
    base::stop_on_signals();
    const base::CpuSet own_cpus = wanted.cpus.empty() ? base::CpuSet{} : base::parse_cpus(wanted.cpus);
    base::check_cpus(own_cpus);
    std::optional<base::ClaimedPart> part;
    const std::string host = base::host_name();
    if (!wanted.out.empty()) part.emplace(wanted.out, fs::path{base::os::folder} / host);

    std::optional<base::Child> child;
    if (!wanted.program.empty()) child.emplace(base::Launch{.words = wanted.program, .input = {}});
    if (!own_cpus.empty()) base::bind_this_thread(own_cpus);  // the program has its parent's CPUs
    Watch watch;
    watch.job = os::job_of(child    ? std::set<pid_t>{child->pid()}
                           : of_run ? ranks_in(wanted.out)
                                    : processes_of(wanted.pids));
    watch.threads = watch.job.threads.size();
    watch.cpus = watch.job.cpus;
    watch.sources = sources_for(watch.job);
    const std::unique_ptr<os::KernelEvents> events = start_events(wanted, watch.job, watch.sources);

    std::optional<os::Recording> recording;
    if (part) recording.emplace(part->path(), host);
    const std::int64_t end_ns = length ? base::now_ns() + length->count() : INT64_MAX;
    observe(watch, wanted, end_ns, events.get(), recording ? &*recording : nullptr);
    if (recording) {
        recording->finish();
        write_record(part->path(), wanted, watch);
        part->keep();
    }
    print(watch, part.has_value());
    if (part) std::printf("%s\n", (part->path() / base::os::table).c_str());
    if (child) {
        if (base::stop_requested()) child->signal(SIGTERM);
        return child->wait();
    }
    return base::exit_fine;
}

}  // namespace

int main(int argc, char** argv)
try {
    base::occupy_closed_streams();
    Wanted wanted;
    std::vector<std::string> length;
    base::Options options{"trace-os", "records what keeps a job's threads from running, and for how long"};
    options.add_positional("TIME", length, "how long to watch, such as 30s; if not given, until the job ends", 0, 1);
    options.synopsis("--pid PID[,PID...] [options] [TIME] | [options] [TIME] -- PROGRAM [ARGUMENT...]");
    options.add("pid", wanted.pids,
                "processes to watch, with their descendants and all threads (default without PROGRAM: the ranks on "
                "this host of the training in --out)",
                "PID[,PID...]");
    options.add("out,o", wanted.out,
                "a run's directory: os.csv, os.json and an OTF2 archive go to DIR/os/HOST; without it the table on "
                "stdout is all",
                "DIR");
    options.add("interval", wanted.interval,
                "time between two readings of the counters, 50ms to 10s, rounded up to a multiple of 50ms", "TIME");
    options.add("least", wanted.least, "shorter interruptions are summed up instead of listed", "TIME");
    options.add_choice("bpf", wanted.bpf, {"auto", "off"},
                       "eBPF programs that name the cause of each interruption; auto: if this user may load them");
    options.add("cpus", wanted.cpus, "CPUs on which trace-os itself runs: those of the noise, not of the job", "LIST");
    options.add_switch("sources", wanted.sources,
                       "list what can be observed on this machine, and what is missing for the rest");
    options.add_switch("json", wanted.json, "with --sources: as JSON");
    options.section(
        {.title = "Causes",
         .text = "A thread is kept from running while it waits in the run queue of a CPU, or while an "
                 "interrupt has its CPU. Interrupts count without those inside them.",
         .entries = {{"neighbour, own_thread, kernel_thread",
                      "what ran on the CPU meanwhile: a process outside of the job, one inside, a kernel thread"},
                     {"idle_cpu", "the CPU idled: a wake-up under way"},
                     {"interrupt, softirq", "an interrupt by number and name; a softirq by vector, with ksoftirqd"},
                     {"unknown_task", "an unknown task ran: the wait was long, or began before the recording"},
                     {"block_io, reclaim", "blocked in I/O; reclaiming memory"},
                     {"major_faults", "blocked until a page comes from a disk"},
                     {"runqueue_wait", "all waits for a CPU, as schedstat counts them"},
                     {"throttled, steal", "stopped by the CPU quota of the control group; by the hypervisor"},
                     {"pressure", "PSI of the control group: part of it may be throttling"},
                     {"cycles, instructions, llc_misses, migrations", "counts of each thread, where perf has them"}}});
    options.example("trace-os --pid 4711 30s");
    options.example("trace-os --out run1 --cpus 4-7 -- mpirun -n 2 ./program");
    options.epilogue("Exit code: 0, the program's own, 2 for a wrong option, 1 for a failure.");
    options.see_also("trace-merge(1), trace-record(1), proc(5), cgroups(7)");
    std::vector<char*> own = own_words(argc, argv, wanted.program);
    if (!options.parse(static_cast<int>(own.size()), own.data())) return base::exit_fine;
    if (!length.empty()) wanted.length = length.front();
    if (wanted.interval < 50ms || wanted.interval > 10s)
        base::fail_usage("--interval must be 50ms to 10s, not ", base::format(wanted.interval));
    if (wanted.least < 0ns) base::fail_usage("--least: not negative");
    if (wanted.json && !wanted.sources) base::fail_usage("--json needs --sources");
    return wanted.sources ? list_sources(wanted) : watch(wanted);
} catch (...) {
    return base::report_failure("trace-os");
}
