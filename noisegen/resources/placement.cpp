#include "noisegen/resources/placement.hpp"

#include "base/contract/control_file.hpp"
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/processes.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
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

// Those in the control file on this host, if there is one.
std::set<pid_t> processes_of_training(const fs::path& run)
try {
    const std::string host = base::host_name();
    if (run.empty() || !fs::exists(run / base::part::control / host)) return {};
    return base::training_processes(base::ControlFile::open(run, host).page());
} catch (const std::exception&) {  // another user's, or of another version: who needs it says so
    return {};
}

std::string program_of(pid_t pid)
{
    std::error_code code;
    return fs::read_symlink(proc_of(pid) / "exe", code).string();
}

}  // namespace

void add_placement(base::Options& options, CpuRequest& cpu_request, std::vector<std::string>& avoid)
{
    options.add("cpus", cpu_request.cpus,
                "CPUs to make noise on: a list such as 4-7; idle: whole cores beside what is to be avoided; all: those "
                "allowed to this process",
                "LIST");
    options.add("avoid", avoid,
                "CPUs (a list), or processes whose CPUs, with those of their descendants, must stay free (a number "
                "that is no CPU, or pid:N); those of the same Slurm job and of the training are always avoided",
                "LIST|PID");
    options.add("count", cpu_request.count,
                "cores of each noise process at most; one of each NUMA node in turn, unless --numa or --socket says "
                "where",
                "NUMBER");
    options.add("numa", cpu_request.numa, "only CPUs of these NUMA nodes", "LIST");
    options.add_choice("socket", cpu_request.socket, {"any", "same", "other"},
                       "only CPUs of a socket that is to be avoided, or of another one");
    options.add_choice("smt", cpu_request.smt, {"no", "yes"}, "noise on siblings (SMT) of CPUs that are to be avoided");
    options.add_switch("share", cpu_request.share, "make noise on CPUs that should be avoided, on purpose");
}

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
    std::vector<AvoidedProcess> found;
    for (const auto& [pid, process] : all) {
        if (family.contains(pid)) continue;
        const bool explicitly = asked.contains(pid);
        const bool of_the_job =
            training.contains(pid) || (job != nullptr && environment_of(pid, "SLURM_JOB_ID") == job);
        if ((!explicitly && !of_the_job) || program_of(pid) == me) continue;
        base::CpuSet cpus = cpus_of_process(pid);
        const bool bound = !within(allowed, cpus);
        const bool launcher = !bound && parents.contains(pid);
        if (cpus.empty() || launcher || (!bound && !explicitly)) continue;
        found.push_back({pid, process.name, std::move(cpus)});
    }
    return found;
}

std::set<pid_t> unbound_training(const Avoid& avoid, const base::CpuSet& allowed)
{
    std::set<pid_t> unbound = processes_of_training(avoid.training);
    std::erase_if(unbound, [&](pid_t pid) { return !within(allowed, cpus_of_process(pid)); });
    return unbound;
}

base::CpuSet cpus_of(const Avoid& avoid, const std::vector<AvoidedProcess>& avoided_processes)
{
    base::CpuSet cpus = avoid.cpus;
    for (const AvoidedProcess& process : avoided_processes) cpus.insert(process.cpus.begin(), process.cpus.end());
    return cpus;
}

Machine this_machine(const base::CpuSet& allowed, const Avoid& avoid)
{
    const std::vector<AvoidedProcess> beside = avoided_processes(avoid, allowed);
    Machine machine{.cores = base::physical_cores(machine_cpus()),
                    .allowed = allowed,
                    .avoided = cpus_of(avoid, beside),
                    .users = {}};
    for (const AvoidedProcess& process : beside)
        for (const int cpu : process.cpus) machine.users.emplace(cpu, base::join(process.name, " (", process.pid, ")"));
    return machine;
}

namespace {

std::set<int> parse_nodes(std::string_view option, const std::string& text)
try {
    return base::parse_cpus(text);  // the same form
} catch (const base::UsageError&) {
    base::fail_usage(option, ": '", text, "' is not a list of NUMA nodes, such as 0 or 0,2-3");
}

// The cores that the cpu_request does not leave out as such.
std::vector<base::Core> suitable(const CpuRequest& cpu_request, const Machine& machine)
{
    std::set<int> nodes;
    std::set<int> sockets;
    for (const base::Core& core : machine.cores) {
        nodes.insert(core.numa_node);
        if (overlap(core.cpus, machine.avoided)) sockets.insert(core.package);
    }
    if (cpu_request.socket != "any" && sockets.empty())
        base::fail_usage("--socket ", cpu_request.socket, ": than which? Say what is to be avoided with --avoid");
    const std::set<int> wanted = cpu_request.numa == "any" ? nodes : parse_nodes("--numa", cpu_request.numa);
    for (const int node : wanted)
        if (!nodes.contains(node))
            base::fail_usage("--numa: no CPU is of NUMA node ", node, "; there are ", base::format_cpus(nodes));
    std::vector<base::Core> cores;
    for (const base::Core& core : machine.cores) {
        const bool right_socket =
            cpu_request.socket == "any" || sockets.contains(core.package) == (cpu_request.socket == "same");
        if (right_socket && wanted.contains(core.numa_node)) cores.push_back(core);
    }
    return cores;
}

base::CpuSet idle_of(const CpuRequest& cpu_request, const Machine& machine, const base::Core& core)
{
    if (cpu_request.smt == "no")
        return within(core.cpus, machine.allowed) && !overlap(core.cpus, machine.avoided) ? core.cpus : base::CpuSet{};
    base::CpuSet idle;
    for (const int cpu : core.cpus)
        if (machine.allowed.contains(cpu) && !machine.avoided.contains(cpu)) idle.insert(cpu);
    return idle;
}

base::CpuSet both(const base::CpuSet& a, const base::CpuSet& b)
{
    base::CpuSet cpus;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(cpus, cpus.end()));
    return cpus;
}

void check_listed(const CpuRequest& cpu_request, const Machine& machine, const base::CpuSet& cpus)
{
    if (cpu_request.share) return;
    for (const CpuPlacement& placement : placements(cpus, machine)) {
        const auto user = machine.users.find(placement.cpu);
        const std::string whose = user == machine.users.end() ? "to be avoided" : "used by " + user->second;
        if (placement.avoided)
            base::fail_usage("CPU ", placement.cpu, " is ", whose, "; choose other --cpus, or --share it on purpose");
        if (!placement.busy_siblings.empty() && cpu_request.smt == "no")
            base::fail_usage("CPU ", placement.cpu, " is on one core with CPU ", *placement.busy_siblings.begin(),
                             ", which is to be avoided; choose other --cpus, or take it with --smt yes");
    }
}

std::string in_words(const CpuRequest& cpu_request)
{
    std::string text =
        cpu_request.cpus == "idle" ? (cpu_request.smt == "no" ? "whole core is idle" : "CPU is idle") : "CPU is left";
    if (cpu_request.numa != "any") text += " on NUMA node " + cpu_request.numa;
    if (cpu_request.socket != "any") text += " on the " + cpu_request.socket + " socket";
    return text;
}

base::CpuSet all_but_first_core(const CpuRequest& cpu_request, const Machine& machine)
{
    std::vector<base::CpuSet> cores;
    for (const base::Core& core : suitable(cpu_request, machine))
        if (const base::CpuSet allowed = both(core.cpus, machine.allowed); !allowed.empty()) cores.push_back(allowed);
    if (cores.empty())
        base::fail_usage("--cpus idle: no ", in_words(cpu_request), "; allowed are CPUs ",
                         base::format_cpus(machine.allowed));
    if (cores.size() > 1) cores.erase(cores.begin());
    base::CpuSet cpus;
    for (const base::CpuSet& core : cores) cpus.insert(core.begin(), core.end());
    return cpus;
}

}  // namespace

base::CpuSet named_cpus(const CpuRequest& cpu_request, const base::CpuSet& allowed)
{
    if (cpu_request.cpus == "idle") return {};
    return cpu_request.cpus == "all" ? allowed : base::parse_cpus(cpu_request.cpus);
}

bool leaves_a_core(const CpuRequest& cpu_request, const Machine& machine)
{
    return cpu_request.cpus == "idle" && machine.avoided.empty();
}

base::CpuSet candidates(const CpuRequest& cpu_request, const Machine& machine)
{
    if (leaves_a_core(cpu_request, machine)) return all_but_first_core(cpu_request, machine);
    const bool idle = cpu_request.cpus == "idle";
    const base::CpuSet listed = named_cpus(cpu_request, machine.allowed);
    base::CpuSet cpus;
    for (const base::Core& core : suitable(cpu_request, machine))
        cpus.merge(idle ? idle_of(cpu_request, machine, core) : both(listed, core.cpus));
    check_listed(cpu_request, machine, idle ? base::CpuSet{} : cpus);
    if (cpus.empty())
        base::fail_usage("--cpus ", cpu_request.cpus, ": no ", in_words(cpu_request), "; allowed are CPUs ",
                         base::format_cpus(machine.allowed), ", busy are ",
                         machine.avoided.empty() ? "none" : base::format_cpus(machine.avoided));
    return cpus;
}

std::vector<base::Core> spread(const std::vector<base::Core>& cores, std::size_t count)
{
    std::map<int, std::vector<base::Core>> by_node;
    for (const base::Core& core : cores) by_node[core.numa_node].push_back(core);
    std::vector<base::Core> taken;
    for (std::size_t round = 0; taken.size() < std::min(count, cores.size()); ++round)
        for (const auto& [node, there] : by_node)
            if (round < there.size() && taken.size() < count) taken.push_back(there[round]);
    return taken;
}

std::vector<CpuPlacement> placements(const base::CpuSet& cpus, const Machine& machine)
{
    std::vector<CpuPlacement> found;
    for (const base::Core& core : machine.cores)
        for (const int cpu : core.cpus) {
            if (!cpus.contains(cpu)) continue;
            CpuPlacement placement{
                .cpu = cpu, .core = core, .avoided = machine.avoided.contains(cpu), .busy_siblings = {}};
            for (const int sibling : core.cpus)
                if (sibling != cpu && machine.avoided.contains(sibling)) placement.busy_siblings.insert(sibling);
            found.push_back(std::move(placement));
        }
    std::sort(found.begin(), found.end(), [](const CpuPlacement& a, const CpuPlacement& b) { return a.cpu < b.cpu; });
    return found;
}

std::string text(const CpuPlacement& placement)
{
    std::string state = "idle";
    if (placement.avoided)
        state = "shared";
    else if (!placement.busy_siblings.empty())
        state = "sibling " + base::format_cpus(placement.busy_siblings) + " busy";
    return base::join("cpu ", placement.cpu, ": core ", placement.core.index, ", socket ", placement.core.package,
                      ", node ", placement.core.numa_node, ", ", state);
}

std::set<int> parse_memory(const std::string& text)
{
    if (text == "local") return {};
    const std::set<int> there = base::memory_nodes();
    const std::set<int> nodes = parse_nodes("--memory", text);
    for (const int node : nodes)
        if (!there.contains(node))
            base::fail_usage("--memory: NUMA node ", node, " has no memory for this process; there are ",
                             base::format_cpus(there));
    return nodes;
}

base::CpuSet own_part(const std::vector<base::Core>& cores, base::LocalRank local, bool share)
{
    if (!share && cores.size() < static_cast<std::size_t>(local.size))
        base::fail_usage(local.size, " noise processes on this host need a core each, there are ", cores.size(),
                         " (CPUs ", base::format_cpus(base::cpus_of(cores)),
                         "); give more --cpus, or --share to let them share");
    return base::share_of(cores, local);
}

namespace {

std::size_t parse_count(const std::string& text)
{
    if (text == "all") return std::numeric_limits<std::size_t>::max();
    try {
        if (const auto count = base::parse<std::int64_t>(text); count > 0) return static_cast<std::size_t>(count);
    } catch (const base::UsageError&) {
    }
    base::fail_usage("--count: '", text, "' is no number of cores, such as 2, or all");
}

// The cores' CPUs among `cpus`.
std::vector<base::Core> cut(const std::vector<base::Core>& cores, const base::CpuSet& cpus)
{
    std::vector<base::Core> left;
    for (base::Core core : cores) {
        core.cpus = both(core.cpus, cpus);
        if (!core.cpus.empty()) left.push_back(std::move(core));
    }
    return left;
}

}  // namespace

base::CpuSet choose_cpus(const CpuRequest& cpu_request, const Machine& machine)
{
    base::check_cpus(named_cpus(cpu_request, machine.allowed));
    const std::size_t count = parse_count(cpu_request.count);
    const base::CpuSet all = candidates(cpu_request, machine);
    const base::CpuSet mine = own_part(cut(machine.cores, all), base::rank_among_sharers(), cpu_request.share);
    return base::cpus_of(spread(cut(machine.cores, mine), count));
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
