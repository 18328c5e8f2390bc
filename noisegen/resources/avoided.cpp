// SPDX-License-Identifier: Apache-2.0
#include "noisegen/resources/avoided.hpp"

#include "base/contract/control_file.hpp"
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/launcher.hpp"
#include "base/system/processes.hpp"
#include "base/units.hpp"

#include <cstdlib>
#include <map>

#include <unistd.h>

namespace noisegen {

namespace fs = std::filesystem;

namespace {

const fs::path proc{"/proc"};

fs::path proc_of(pid_t pid)
{
    return proc / std::to_string(pid);
}

// CPUs of all threads together, since a library may have bound each thread to a different one.
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
    for (const std::string& line : base::lines_in(proc_of(pid) / "environ", '\0'))
        if (line.starts_with(name + "=")) return line.substr(name.size() + 1);
    return {};
}

// Processes listed in the control file on this host, if there is one.
std::set<pid_t> processes_of_training(const fs::path& run)
try {
    const std::string host = base::host_name();
    if (run.empty() || !fs::exists(run / base::part::control / host)) return {};
    return base::training_processes(base::ControlFile::open(run, host).page());
} catch (const std::exception&) {  // file of another user or version: code that needs it reports that
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
    const base::CpuSet machine = base::present_cpus();
    for (const std::string& word : words) {
        const bool named = word.starts_with("pid:");
        const std::string number = named ? word.substr(4) : word;
        const bool one_number = !number.empty() && number.find_first_not_of("0123456789") == std::string::npos;
        if (named && !one_number) base::fail_usage("--avoid: '", word, "' is not a process; give one such as pid:4711");
        if (one_number && (named || base::parse<std::int64_t>(number) > *machine.rbegin())) {
            const auto pid = base::parse<int>(number);
            if (!fs::exists(proc_of(pid))) base::fail_usage("--avoid: no process ", pid, ", and no such CPU");
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

std::vector<AvoidedProcess> avoided_processes(const Avoid& avoid, const base::CpuSet& allowed)
{
    const char* job = std::getenv("SLURM_JOB_ID");
    const std::set<pid_t> training = processes_of_training(avoid.training);
    if (avoid.processes.empty() && training.empty() && job == nullptr) return {};

    const std::map<pid_t, base::Process> all = base::processes();
    const std::set<pid_t> family = base::with_ancestors(::getpid(), all);
    std::set<pid_t> parents;
    for (const auto& [pid, process] : all) parents.insert(process.parent);
    const std::set<pid_t> asked = base::with_descendants({avoid.processes.begin(), avoid.processes.end()}, all);

    const std::string me = program_of(::getpid());
    const std::string observer = fs::path{me}.replace_filename("trace-os");
    std::vector<AvoidedProcess> found;
    for (const auto& [pid, process] : all) {
        if (family.contains(pid)) continue;
        const bool explicitly = asked.contains(pid);
        const bool of_the_job =
            training.contains(pid) || (job != nullptr && environment_of(pid, "SLURM_JOB_ID") == job);
        const std::string its = program_of(pid);
        if ((!explicitly && !of_the_job) || its == me || its == observer) continue;
        base::CpuSet cpus = cpus_of_process(pid);
        const bool bound = !base::are_within(allowed, cpus);
        const bool launcher = !bound && parents.contains(pid);
        if (cpus.empty() || launcher || (!bound && !explicitly)) continue;
        found.push_back({pid, process.name, std::move(cpus)});
    }
    return found;
}

std::set<pid_t> unbound_training(const Avoid& avoid, const base::CpuSet& allowed)
{
    std::set<pid_t> unbound = processes_of_training(avoid.training);
    std::erase_if(unbound, [&](pid_t pid) { return !base::are_within(allowed, cpus_of_process(pid)); });
    return unbound;
}

base::CpuSet cpus_of(const Avoid& avoid, const std::vector<AvoidedProcess>& avoided_processes)
{
    base::CpuSet cpus = avoid.cpus;
    for (const AvoidedProcess& process : avoided_processes) cpus.insert(process.cpus.begin(), process.cpus.end());
    return cpus;
}

}  // namespace noisegen
