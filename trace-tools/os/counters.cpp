// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/os/counters.hpp"

#include "base/system/cgroups.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include <unistd.h>

namespace os {

namespace fs = std::filesystem;
using namespace base::os;

namespace {

// Keys of values that are not written themselves.
constexpr const char* running = "running";  // time of a thread on a CPU; the count is the CPU's number
constexpr const char* idle = "idle";

std::string whole_text(const fs::path& path)
{
    std::ifstream file{path};
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::vector<std::string> words_of(const std::string& text)
{
    std::istringstream in{text};
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(std::move(word));
    return words;
}

std::optional<std::int64_t> number_of(const std::string& word)
{
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc{} || end != word.data() + word.size()) return {};
    return number;
}

std::int64_t number_at(const std::vector<std::string>& words, std::size_t place)
{
    return place < words.size() ? number_of(words[place]).value_or(0) : 0;
}

// The number after a word at the start of a line, as in "throttled_usec 1234".
std::optional<std::int64_t> number_after(const fs::path& file, const std::string& word)
{
    std::ifstream in{file};
    for (std::string line; std::getline(in, line);) {
        const std::vector<std::string> words = words_of(line);
        if (words.size() > 1 && words[0] == word) return number_of(words[1]);
    }
    return {};
}

std::int64_t tick_ns()
{
    static const std::int64_t ticks_per_s = ::sysconf(_SC_CLK_TCK);
    return 1'000'000'000 / ticks_per_s;
}

fs::path task(const fs::path& root, pid_t process, pid_t thread)
{
    return root / "proc" / std::to_string(process) / "task" / std::to_string(thread);
}

// The files of this name of the control group of the job's first process, and of its parents, the nearest first. If
// cgroup versions 1 and 2 are both mounted, version 2 is below "unified".
std::vector<fs::path> group_files(const fs::path& root, const Job& job, const std::string& file)
{
    std::vector<fs::path> found;
    if (job.ended()) return found;
    for (const base::CgroupDirectory& group : base::cgroup_directories("cpu", root, *job.processes.begin())) {
        const fs::path mounts = root / "sys/fs/cgroup";
        const fs::path below = mounts / "unified" / group.path.lexically_relative(mounts) / file;
        if (fs::exists(group.path / file))
            found.push_back(group.path / file);
        else if (group.version == 2 && fs::exists(below))
            found.push_back(below);
    }
    return found;
}

fs::path pressure_file(const fs::path& root, const Job& job, const std::string& resource)
{
    const std::vector<fs::path> groups = group_files(root, job, resource + ".pressure");
    return groups.empty() ? root / "proc/pressure" / resource : groups.front();
}

struct Throttled {
    std::int64_t periods = 0;
    std::int64_t ns = 0;
};

// The sum over the job's control group and its parents, since the quota of a parent, such as a pod's, stops the job as
// its own does. None if no group counts it.
std::optional<Throttled> throttled_time(const fs::path& root, const Job& job)
{
    std::optional<Throttled> sum;
    for (const fs::path& file : group_files(root, job, "cpu.stat")) {
        const auto us = number_after(file, "throttled_usec");
        const auto ns = number_after(file, "throttled_time");  // cgroup version 1
        if (!us && !ns) continue;
        if (!sum) sum.emplace();
        sum->periods += number_after(file, "nr_throttled").value_or(0);
        sum->ns += us ? *us * 1000 : *ns;
    }
    return sum;
}

}  // namespace

void Counters::grown(Key key, Value value)
{
    const auto before = before_.find(key);
    if (before != before_.end() && before_ns_ != 0) {
        const Value growth{value.count - before->second.count, value.ns - before->second.ns};
        if (growth.count > 0 || growth.ns > 0) now(key, growth);
    }
    seen_[std::move(key)] = value;
}

void Counters::now(Key key, Value value)
{
    const auto& [source, cause, by, thread, cpu] = key;
    Row row;
    row.begin_ns = before_ns_;
    row.end_ns = now_ns_;
    row.source = source;
    row.cause = cause;
    row.by = by;
    if (thread >= 0) row.thread = thread;
    if (cpu >= 0) row.cpu = cpu;
    row.count = value.count;
    row.ns = value.ns;
    rows_.push_back(std::move(row));
}

std::int64_t Counters::growth_ns(const Key& key) const
{
    const auto before = before_.find(key);
    const auto seen = seen_.find(key);
    if (before == before_.end() || seen == seen_.end() || before_ns_ == 0) return 0;
    return std::max<std::int64_t>(0, seen->second.ns - before->second.ns);
}

void Counters::read_threads(const Job& job)
{
    for (const auto& [thread, about] : counted_threads(job)) {
        const fs::path directory = task(root_, about.process, thread);
        const std::vector<std::string> schedstat = words_of(whole_text(directory / "schedstat"));
        if (schedstat.size() >= 3)
            grown({"schedstat", cause::runqueue_wait, "", thread, -1},
                  {number_at(schedstat, 2), number_at(schedstat, 1)});
        const std::string stat = whole_text(directory / "stat");
        const std::size_t name_end = stat.rfind(')');
        if (name_end == std::string::npos) continue;
        // words_of() begins with field 3, after the name: major faults are field 12, block I/O delays field 42.
        const std::vector<std::string> fields = words_of(stat.substr(name_end + 1));
        grown({"stat", cause::major_faults, "", thread, -1}, {number_at(fields, 12 - 3), 0});
        grown({"stat", cause::block_io, "", thread, -1}, {0, number_at(fields, 42 - 3) * tick_ns()});
        if (thread == about.process)  // field 39 is the CPU on which the thread runs, or ran last
            seen_[{"schedstat", running, "", thread, -1}] = {number_at(fields, 39 - 3), number_at(schedstat, 0)};
        if (const auto switches = number_after(directory / "status", "nonvoluntary_ctxt_switches:"))
            grown({"status", cause::preempted, "", thread, -1}, {*switches, 0});
    }
}

void Counters::read_cpus(const Job& job)
{
    std::ifstream file{root_ / "proc/stat"};
    for (std::string line; std::getline(file, line);) {
        const std::vector<std::string> words = words_of(line);
        if (words.empty() || !words[0].starts_with("cpu")) continue;
        const std::optional<std::int64_t> cpu = number_of(words[0].substr(3));
        if (!cpu || !job.cpus.contains(static_cast<int>(*cpu))) continue;
        // columns: cpu0 user nice system idle iowait irq softirq steal, in ticks
        seen_[{"proc_stat", idle, "", -1, *cpu}] = {0, (number_at(words, 4) + number_at(words, 5)) * tick_ns()};
        grown({"proc_stat", cause::interrupt, "", -1, *cpu}, {0, number_at(words, 6) * tick_ns()});
        grown({"proc_stat", cause::softirq, "", -1, *cpu}, {0, number_at(words, 7) * tick_ns()});
        grown({"proc_stat", cause::steal, "", -1, *cpu}, {0, number_at(words, 8) * tick_ns()});
    }
    for (const int cpu : job.cpus) {
        const auto khz =
            base::number_in(root_ / ("sys/devices/system/cpu/cpu" + std::to_string(cpu)) / "cpufreq/scaling_cur_freq");
        if (khz && before_ns_ != 0) now({"cpufreq", cause::frequency, "", -1, cpu}, {*khz, 0});
    }
}

// Interrupts and steal are counted by CPU. The first thread of each process gets a part of those of its CPU: as large
// as its part of the time in which that CPU was not idle.
void Counters::read_parts_of_threads(const Job& job)
{
    for (const auto& [thread, about] : job.threads) {
        const auto found = seen_.find({"schedstat", running, "", thread, -1});
        if (found == seen_.end()) continue;
        const std::int64_t cpu = found->second.count;
        const std::int64_t busy_ns = now_ns_ - before_ns_ - growth_ns({"proc_stat", idle, "", -1, cpu});
        if (busy_ns <= 0) continue;
        const double part = std::min(1.0, static_cast<double>(growth_ns(found->first)) / static_cast<double>(busy_ns));
        for (const char* cause : {cause::interrupt, cause::softirq, cause::steal}) {
            const double ns = part * static_cast<double>(growth_ns({"proc_stat", cause, "", -1, cpu}));
            if (ns >= 1.0) now({"stat", cause, "", thread, cpu}, {0, static_cast<std::int64_t>(ns)});
        }
    }
}

// Reads a file with one row for each interrupt and one column for each CPU, then the name: "36: 0 1284026
// PCI-MSIX-0000:00:02.0 1-edge virtio1-req.0".
void Counters::read_interrupts(const Job& job, const std::string& name, const std::string& cause)
{
    std::ifstream file{root_ / "proc" / name};
    std::string line;
    std::getline(file, line);
    std::vector<std::int64_t> cpus;
    for (const std::string& word : words_of(line))
        cpus.push_back(word.starts_with("CPU") ? number_of(word.substr(3)).value_or(-1) : -1);
    while (std::getline(file, line)) {
        const std::vector<std::string> words = words_of(line);
        if (words.size() < cpus.size() + 1) continue;  // the rows ERR and MIS have a single number
        std::string by = words[0].substr(0, words[0].size() - 1);
        if (number_of(by)) by += " " + words.back();
        for (std::size_t i = 0; i < cpus.size(); ++i)
            if (job.cpus.contains(static_cast<int>(cpus[i])))
                grown({name, cause, by, -1, cpus[i]}, {number_at(words, i + 1), 0});
    }
}

void Counters::read_group(const Job& job)
{
    if (const auto throttled = throttled_time(root_, job))
        grown({"cpu_stat", cause::throttled, "", -1, -1}, {throttled->periods, throttled->ns});
}

// Reads lines such as "some avg10=0.00 avg60=0.00 avg300=0.00 total=6262876120"; the total is in microseconds.
void Counters::read_pressure(const Job& job)
{
    for (const char* resource : {"cpu", "io", "memory"}) {
        std::ifstream file{pressure_file(root_, job, resource)};
        for (std::string line; std::getline(file, line);) {
            const std::vector<std::string> words = words_of(line);
            if (words.size() < 5 || !words[4].starts_with("total=")) continue;
            const std::int64_t us = number_of(words[4].substr(6)).value_or(0);
            grown({"psi", cause::pressure, base::join(resource, " ", words[0]), -1, -1}, {0, us * 1000});
        }
    }
}

// Reads the root monitoring group: all tasks and CPUs that are not in a group of their own.
void Counters::read_resctrl()
{
    std::error_code code;
    for (const auto& domain : fs::directory_iterator{root_ / "sys/fs/resctrl/mon_data", code}) {
        const std::string name = domain.path().filename().string();
        if (const auto bytes = base::number_in(domain.path() / "mbm_total_bytes"))
            grown({"resctrl", cause::bandwidth, name, -1, -1}, {*bytes, 0});
        const auto occupied = base::number_in(domain.path() / "llc_occupancy");
        if (occupied && before_ns_ != 0) now({"resctrl", cause::llc_occupancy, name, -1, -1}, {*occupied, 0});
    }
}

std::vector<Row> Counters::read(const Job& job, std::int64_t now_ns)
{
    now_ns_ = now_ns;
    rows_.clear();
    seen_.clear();
    read_threads(job);
    read_cpus(job);
    read_parts_of_threads(job);
    read_interrupts(job, "interrupts", cause::interrupt);
    read_interrupts(job, "softirqs", cause::softirq);
    read_group(job);
    read_pressure(job);
    read_resctrl();
    before_.swap(seen_);
    before_ns_ = now_ns;
    return std::move(rows_);
}

std::vector<Source> Counters::sources(const Job& job) const
{
    const pid_t thread = job.threads.empty() ? 0 : job.threads.begin()->first;
    const fs::path of_thread =
        job.threads.empty() ? fs::path{} : task(root_, job.threads.begin()->second.process, thread);
    const auto there = [](const fs::path& path) { return !path.empty() && fs::exists(path); };
    const auto source = [](std::string name, std::string gives, bool has, std::string lacks) {
        return Source{std::move(name), std::move(gives), has ? std::string{} : std::move(lacks)};
    };
    const bool delays = base::number_in(root_ / "proc/sys/kernel/task_delayacct").value_or(0) == 1;
    return {
        source("schedstat", "waits for a CPU, of 200 threads at most", there(of_thread / "schedstat"),
               "the kernel has no /proc/PID/schedstat (CONFIG_SCHED_INFO)"),
        source("status", "preemptions, faults", there(of_thread / "status"), "no thread of the job can be seen"),
        source("block_io", "waits for disks", delays,
               "delay accounting is off: sysctl kernel.task_delayacct=1, before the job begins"),
        source("proc_stat", "interrupts and steal of each CPU, in ticks", there(root_ / "proc/stat"),
               "there is no /proc/stat"),
        source("interrupts", "interrupts by name", there(root_ / "proc/interrupts"), "there is no /proc/interrupts"),
        source("softirqs", "soft interrupts by name", there(root_ / "proc/softirqs"), "there is no /proc/softirqs"),
        source("cpu_stat", "throttling by the job's quota", throttled_time(root_, job).has_value(),
               "the job's control group has no cpu.stat with throttled time: give the job a group of its own with "
               "the cpu controller (Slurm: TaskPlugin=task/cgroup)"),
        source("psi", "pressure on CPU, memory, I/O", there(pressure_file(root_, job, "cpu")),
               "no pressure stall information: boot option psi=1"),
        source("cpufreq", "clock rates", there(root_ / "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq"),
               "the kernel shows no clock rates"),
        source("resctrl", "memory bandwidth, cache occupancy", there(root_ / "sys/fs/resctrl/mon_data"),
               "no resctrl file system: mount -t resctrl resctrl /sys/fs/resctrl, where the CPU has it")};
}

}  // namespace os
