// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/campaign/sweep/free_cores.hpp"

#include "base/contract/control_file.hpp"
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/launcher.hpp"
#include "base/system/processes.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <fstream>
#include <set>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

// Run directories whose control file of this host a process has mapped.
std::set<fs::path> runs_of(pid_t pid, const std::string& host)
{
    const std::string end = base::join("/", base::part::control, "/", host);
    std::set<fs::path> found;
    std::ifstream maps{base::join("/proc/", pid, "/maps")};
    for (std::string line; std::getline(maps, line);) {
        const std::size_t path = line.find('/');
        if (path != std::string::npos && line.ends_with(end))
            found.insert(line.substr(path, line.size() - path - end.size()));
    }
    return found;
}

std::set<pid_t> processes_of_training(const fs::path& run, const std::string& host)
try {
    return base::training_processes(base::ControlFile::open(run, host).page());
} catch (const std::exception&) {  // file of another user or version
    return {};
}

base::CpuSet cpus_of_threads(pid_t pid)
{
    base::CpuSet cpus;
    for (const auto& [thread, _] : base::threads_of(pid)) cpus.merge(base::affinity_of(thread));
    return cpus;
}

std::vector<std::string> texts_of(pid_t pid, const char* file)
{
    return base::lines_in(base::join("/proc/", pid, "/", file), '\0');
}

bool is_of_trial(pid_t pid)
{
    constexpr const char* variable = "CROSSTALK_SWEEP_TRIAL=";  // as python/sweep/worker.py sets it
    const std::vector<std::string> all = texts_of(pid, "environ");
    return std::any_of(all.begin(), all.end(), [](const std::string& one) { return one.starts_with(variable); });
}

}  // namespace

std::vector<Holder> trainings_here()
{
    const std::string host = base::host_name();
    const std::map<pid_t, base::Process> all = base::processes();
    std::set<fs::path> runs;
    for (const auto& [pid, _] : all)
        for (const fs::path& run : runs_of(pid, host)) runs.insert(run);
    const base::CpuSet machine = base::present_cpus();
    std::vector<Holder> holders;
    for (const fs::path& run : runs)
        for (const pid_t pid : base::with_descendants(processes_of_training(run, host), all))
            if (base::CpuSet cpus = cpus_of_threads(pid); !cpus.empty() && !is_of_trial(pid)) {
                const bool bound = !base::are_within(machine, cpus);
                holders.push_back({pid, run, std::move(cpus), bound});
            }
    return holders;
}

base::CpuSet cpus_of_other_sweeps(const fs::path& own)
{
    base::CpuSet cpus;
    for (const auto& [pid, _] : base::processes()) {
        const std::vector<std::string> words = texts_of(pid, "cmdline");  // python3 ../python/sweep work DIR CPUS
        if (words.size() != 5 || !words[1].ends_with("python/sweep") || words[2] != "work" || words[3] == own) continue;
        try {
            cpus.merge(base::parse_cpus(words[4]));
        } catch (const base::UsageError&) {  // a program of another kind
        }
    }
    return cpus;
}

std::optional<std::string> who_holds(const base::CpuSet& cpus, const std::vector<Holder>& holders)
{
    for (const Holder& holder : holders)
        if (const base::CpuSet both = base::common_cpus(cpus, holder.cpus); holder.bound && !both.empty())
            return base::join("process ", holder.pid, " of the training in ", holder.run.string(), " holds CPU ",
                              base::format_cpus(both));
    return {};
}

std::vector<base::CpuSet> cores_of_workers(const base::CpuSet& allowed, const std::vector<Holder>& holders, int cores,
                                           int workers)
{
    std::vector<base::CpuSet> sets;
    base::CpuSet next;
    int in_next = 0;
    std::string why = "there are too few cores";
    for (const base::Core& core : base::physical_cores(allowed)) {
        if (const auto held = who_holds(core.cpus, holders)) {
            why = *held;
            continue;
        }
        next.insert(core.cpus.begin(), core.cpus.end());
        if (++in_next < cores) continue;
        sets.push_back(std::move(next));
        next.clear();
        in_next = 0;
        if (static_cast<int>(sets.size()) == workers) return sets;
    }
    if (sets.empty() || workers > 0)
        base::fail_usage("CPUs ", base::format_cpus(allowed), " have room for ", sets.size(), " workers of ", cores,
                         " free cores, not ", std::max(workers, 1), ": ", why);
    return sets;
}

}  // namespace crosstalk
