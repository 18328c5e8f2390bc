#include "noisegen/placement.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <unistd.h>

namespace noisegen {

namespace fs = std::filesystem;

namespace {

const fs::path proc{"/proc"};

fs::path proc_of(pid_t pid)
{
    return proc / std::to_string(pid);
}

base::CpuSet machine_cpus()
{
    try {
        return base::parse_cpus(base::trim(base::read_whole("/sys/devices/system/cpu/present")));
    } catch (const base::Error&) {
        return base::allowed_cpus();
    }
}

bool overlap(const base::CpuSet& a, const base::CpuSet& b)
{
    return std::any_of(a.begin(), a.end(), [&b](int cpu) { return b.contains(cpu); });
}

bool within(const base::CpuSet& a, const base::CpuSet& b)
{
    return std::includes(b.begin(), b.end(), a.begin(), a.end());
}

struct Process {
    pid_t parent = 0;
    std::string name;
};

// All processes that can be seen; one that ends meanwhile is left out.
std::map<pid_t, Process> processes()
{
    std::map<pid_t, Process> all;
    std::error_code code;
    for (const auto& entry : fs::directory_iterator{proc, code}) {
        const std::string word = entry.path().filename().string();
        if (word.find_first_not_of("0123456789") != std::string::npos) continue;
        std::ifstream file{entry.path() / "stat"};
        std::string text;
        if (!std::getline(file, text)) continue;
        // "12 (a name) S 1 ...": the name may hold anything, so its end is the last parenthesis.
        const std::size_t open = text.find('(');
        const std::size_t close = text.rfind(')');
        if (open == std::string::npos || close == std::string::npos) continue;
        std::istringstream rest{text.substr(close + 1)};
        char state = 0;
        pid_t parent = 0;
        if (!(rest >> state >> parent) || state == 'Z') continue;
        all[base::parse<int>(word)] = {parent, text.substr(open + 1, close - open - 1)};
    }
    return all;
}

// Of all threads together: a library may have bound them one by one.
base::CpuSet cpus_of_process(pid_t pid)
{
    base::CpuSet cpus;
    std::error_code code;
    for (const auto& entry : fs::directory_iterator{proc_of(pid) / "task", code})
        cpus.merge(base::affinity_of(base::parse<int>(entry.path().filename().string())));
    return cpus;
}

std::string environment_of(pid_t pid, const std::string& name)
{
    std::ifstream file{proc_of(pid) / "environ", std::ios::binary};
    for (std::string line; std::getline(file, line, '\0');)
        if (line.starts_with(name + "=")) return line.substr(name.size() + 1);
    return {};
}

std::string program_of(pid_t pid)
{
    std::error_code code;
    return fs::read_symlink(proc_of(pid) / "exe", code).string();
}

}  // namespace

Avoid parse_avoid(const std::vector<std::string>& words)
{
    Avoid avoid;
    const base::CpuSet machine = machine_cpus();
    for (const std::string& word : words) {
        const bool named = word.starts_with("pid:");
        const std::string number = named ? word.substr(4) : word;
        const bool one_number = !number.empty() && number.find_first_not_of("0123456789") == std::string::npos;
        if (named && !one_number) base::fail_usage("--avoid: '", word, "' is not a process, such as pid:4711");
        if (one_number && (named || base::parse<std::int64_t>(number) > *machine.rbegin())) {
            const auto pid = base::parse<int>(number);
            if (!fs::exists(proc_of(pid)))
                base::fail_usage("--avoid: there is no process ", pid, ", and no CPU of that number");
            avoid.processes.push_back(pid);
        } else {
            const base::CpuSet cpus = base::parse_cpus(word);
            for (const int cpu : cpus)
                if (!machine.contains(cpu))
                    base::fail_usage("--avoid: CPU ", cpu, " does not exist; there are ", base::format_cpus(machine));
            avoid.cpus.insert(cpus.begin(), cpus.end());
        }
    }
    return avoid;
}

std::vector<Neighbour> neighbours(const Avoid& avoid, const base::CpuSet& allowed)
{
    const char* job = std::getenv("SLURM_JOB_ID");
    if (avoid.processes.empty() && job == nullptr) return {};

    const std::map<pid_t, Process> all = processes();
    std::set<pid_t> family;  // this process and its ancestors
    for (pid_t pid = ::getpid(); all.contains(pid) && family.insert(pid).second;) pid = all.at(pid).parent;
    std::set<pid_t> parents;
    for (const auto& [pid, process] : all) parents.insert(process.parent);
    std::set<pid_t> asked{avoid.processes.begin(), avoid.processes.end()};
    for (bool grown = true; grown;) {  // children may have smaller numbers than their parents
        grown = false;
        for (const auto& [pid, process] : all)
            if (asked.contains(process.parent)) grown = asked.insert(pid).second || grown;
    }

    const std::string me = program_of(::getpid());
    std::vector<Neighbour> found;
    for (const auto& [pid, process] : all) {
        if (family.contains(pid)) continue;
        const bool explicitly = asked.contains(pid);
        const bool of_the_job = job != nullptr && environment_of(pid, "SLURM_JOB_ID") == job;
        if ((!explicitly && !of_the_job) || program_of(pid) == me) continue;
        base::CpuSet cpus = cpus_of_process(pid);
        const bool bound = !within(allowed, cpus);
        const bool launcher = !bound && parents.contains(pid);
        if (cpus.empty() || launcher || (!bound && !explicitly)) continue;
        found.push_back({pid, process.name, std::move(cpus)});
    }
    return found;
}

base::CpuSet cpus_of(const Avoid& avoid, const std::vector<Neighbour>& neighbours)
{
    base::CpuSet cpus = avoid.cpus;
    for (const Neighbour& neighbour : neighbours) cpus.insert(neighbour.cpus.begin(), neighbour.cpus.end());
    return cpus;
}

base::CpuSet idle_cpus(const std::vector<base::Core>& cores, const base::CpuSet& allowed, const base::CpuSet& avoided)
{
    base::CpuSet idle;
    for (const base::Core& core : cores)
        if (within(core.cpus, allowed) && !overlap(core.cpus, avoided)) idle.insert(core.cpus.begin(), core.cpus.end());
    return idle;
}

base::CpuSet own_part(const std::vector<base::Core>& cores, base::LocalRank local, bool share)
{
    if (!share && cores.size() < static_cast<std::size_t>(local.size))
        base::fail_usage(local.size, " noise processes on this host need a core each, there are ", cores.size(),
                         " (CPUs ", base::format_cpus(base::cpus_of(cores)),
                         "); give more --cpus, or --share to let them share");
    return base::share_of(cores, local);
}

base::CpuSet choose_cpus(const std::string& text, const Avoid& avoid, bool share)
{
    const base::CpuSet allowed = base::allowed_cpus();
    const std::vector<Neighbour> beside = neighbours(avoid, allowed);
    const base::CpuSet avoided = cpus_of(avoid, beside);
    base::CpuSet cpus;
    if (text == "idle") {
        if (avoided.empty())
            base::fail_usage(
                "--cpus idle: nothing is known to be busy; say so with --avoid (processes or CPUs), or give "
                "--cpus a list");
        cpus = idle_cpus(base::physical_cores(machine_cpus()), allowed, avoided);
        if (cpus.empty())
            base::fail_usage("--cpus idle: no whole core is idle; allowed are CPUs ", base::format_cpus(allowed),
                             ", busy are ", base::format_cpus(avoided));
    } else {
        cpus = base::parse_cpus(text);
        base::check_cpus(cpus);
    }
    if (!share) {
        for (const int cpu : cpus) {
            if (!avoided.contains(cpu)) continue;
            const auto owner = std::find_if(beside.begin(), beside.end(),
                                            [cpu](const Neighbour& neighbour) { return neighbour.cpus.contains(cpu); });
            const std::string whose =
                owner == beside.end() ? "to be avoided" : base::join("used by ", owner->name, " (", owner->pid, ")");
            base::fail_usage("CPU ", cpu, " is ", whose, "; choose other --cpus, or --share it on purpose");
        }
    }
    return own_part(base::physical_cores(cpus), base::local_rank(), share);
}

std::vector<std::vector<int>> divide(const Schedule& schedule, const std::vector<base::Core>& cores)
{
    const base::CpuSet all = base::cpus_of(cores);
    const std::vector<std::size_t> own = schedule.with_own_cpus();
    const bool parts = schedule.design == Schedule::Design::factorial;
    if (parts && cores.size() < own.size())
        base::fail_usage("factorial: ", own.size(), " stressors need as many noise cores of their own, there are ",
                         cores.size(), " (CPUs ", base::format_cpus(all), "); use rotation(...), or more --cpus");
    std::vector<std::vector<int>> divided;
    for (std::size_t i = 0; i < schedule.stressors.size(); ++i) {
        const auto place = std::find(own.begin(), own.end(), i);
        base::CpuSet cpus = all;
        if (place == own.end())
            cpus = {*all.begin()};
        else if (parts)
            cpus = base::part_of(cores, static_cast<std::size_t>(place - own.begin()), own.size());
        divided.emplace_back(cpus.begin(), cpus.end());
    }
    return divided;
}

}  // namespace noisegen
