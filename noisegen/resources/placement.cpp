// SPDX-License-Identifier: Apache-2.0
#include "noisegen/resources/placement.hpp"

#include "base/error.hpp"
#include "noisegen/resources/near_device.hpp"

#include <algorithm>
#include <limits>

namespace noisegen {

void add_placement(base::Options& options, CpuRequest& cpu_request, std::vector<std::string>& avoid)
{
    options.add(
        "cpus", cpu_request.cpus,
        "CPUs to make noise on: a list such as 4-7; idle: whole cores that nothing avoided uses; all: all allowed "
        "to this process",
        "LIST");
    options.add(
        "avoid", avoid,
        "CPUs to keep free: a list, or a process (pid:N, or a number other than a CPU's) whose CPUs and descendants' "
        "CPUs are meant; the training's and its Slurm job's are always avoided",
        "LIST|PID");
    options.add("count", cpu_request.count,
                "at most this many cores per noise process; spread over NUMA nodes, unless --numa or --socket is given",
                "NUMBER");
    options.add("numa", cpu_request.numa, "only CPUs of these NUMA nodes", "LIST");
    options.add_choice("socket", cpu_request.socket, {"any", "same", "other"},
                       "same: only CPUs of sockets that have avoided CPUs; other: only of the other sockets");
    options.add("near", cpu_request.near, "only CPUs of this GPU's socket, or of a device's (pci:0000:17:00.0)",
                "gpu:N");
    options.add("far", cpu_request.far, "only CPUs of other sockets than this GPU's", "gpu:N");
    options.add_choice("smt", cpu_request.smt, {"no", "yes"}, "allow noise on SMT siblings of avoided CPUs");
    options.add_switch("share", cpu_request.share, "allow noise on avoided CPUs");
}

Machine this_machine(const base::CpuSet& allowed, const Avoid& avoid)
{
    const std::vector<AvoidedProcess> beside = avoided_processes(avoid, allowed);
    Machine machine{
        .cores = base::physical_cores(base::present_cpus()), .allowed = allowed, .avoided = cpus_of(avoid, beside)};
    for (const AvoidedProcess& process : beside)
        for (const int cpu : process.cpus) machine.users.emplace(cpu, base::join(process.name, " (", process.pid, ")"));
    return machine;
}

namespace {

std::set<int> parse_nodes(std::string_view option, const std::string& text)
try {
    return base::parse_cpus(text);  // lists of nodes have the same form
} catch (const base::UsageError&) {
    base::fail_usage(option, ": '", text, "' is not a list of NUMA nodes, such as 0 or 0,2-3");
}

std::set<int> sockets_of(const base::CpuSet& cpus, const Machine& machine)
{
    std::set<int> sockets;
    for (const base::Core& core : machine.cores)
        if (base::have_common(core.cpus, cpus)) sockets.insert(core.package);
    return sockets;
}

// The sockets that --near and --far allow.
std::set<int> sockets_by_device(const CpuRequest& cpu_request, const Machine& machine)
{
    std::set<int> all;
    for (const base::Core& core : machine.cores) all.insert(core.package);
    if (!cpu_request.near.empty() && !cpu_request.far.empty())
        base::fail_usage("--near ", cpu_request.near, " and --far ", cpu_request.far, ": give only one");
    if (!cpu_request.near.empty()) return sockets_of(cpus_near("--near", cpu_request.near, machine.root), machine);
    if (!cpu_request.far.empty())
        for (const int near : sockets_of(cpus_near("--far", cpu_request.far, machine.root), machine)) all.erase(near);
    return all;
}

// The cores that --numa, --socket, --near and --far allow, idle or not.
std::vector<base::Core> suitable(const CpuRequest& cpu_request, const Machine& machine)
{
    std::set<int> nodes;
    for (const base::Core& core : machine.cores) nodes.insert(core.numa_node);
    const std::set<int> sockets = sockets_of(machine.avoided, machine);
    const std::set<int> by_device = sockets_by_device(cpu_request, machine);
    if (cpu_request.socket != "any" && sockets.empty())
        base::fail_usage("--socket ", cpu_request.socket, " needs --avoid: it refers to the sockets of those CPUs");
    const std::set<int> wanted = cpu_request.numa == "any" ? nodes : parse_nodes("--numa", cpu_request.numa);
    for (const int node : wanted)
        if (!nodes.contains(node))
            base::fail_usage("--numa: no CPU on NUMA node ", node, "; there are ", base::format_cpus(nodes));
    std::vector<base::Core> cores;
    for (const base::Core& core : machine.cores) {
        const bool right_socket =
            cpu_request.socket == "any" || sockets.contains(core.package) == (cpu_request.socket == "same");
        if (right_socket && by_device.contains(core.package) && wanted.contains(core.numa_node)) cores.push_back(core);
    }
    return cores;
}

base::CpuSet idle_of(const CpuRequest& cpu_request, const Machine& machine, const base::Core& core)
{
    if (cpu_request.smt == "no")
        return base::are_within(core.cpus, machine.allowed) && !base::have_common(core.cpus, machine.avoided)
                   ? core.cpus
                   : base::CpuSet{};
    base::CpuSet idle;
    for (const int cpu : core.cpus)
        if (machine.allowed.contains(cpu) && !machine.avoided.contains(cpu)) idle.insert(cpu);
    return idle;
}

void check_listed(const CpuRequest& cpu_request, const Machine& machine, const base::CpuSet& cpus)
{
    if (cpu_request.share) return;
    for (const CpuPlacement& placement : placements(cpus, machine)) {
        const auto user = machine.users.find(placement.cpu);
        const std::string whose = user == machine.users.end() ? "to be avoided" : "used by " + user->second;
        if (placement.avoided)
            base::fail_usage("CPU ", placement.cpu, " is ", whose, "; choose other --cpus, or --share");
        if (!placement.busy_siblings.empty() && cpu_request.smt == "no")
            base::fail_usage("CPU ", placement.cpu, " is on the core of CPU ", *placement.busy_siblings.begin(),
                             ", which is avoided; choose other --cpus, or give --smt yes");
    }
}

std::string in_words(const CpuRequest& cpu_request)
{
    std::string text =
        cpu_request.cpus == "idle" ? (cpu_request.smt == "no" ? "whole core is idle" : "CPU is idle") : "CPU is left";
    if (cpu_request.numa != "any") text += " on NUMA node " + cpu_request.numa;
    if (cpu_request.socket != "any") text += " on the " + cpu_request.socket + " socket";
    if (!cpu_request.near.empty()) text += " on the socket of " + cpu_request.near;
    if (!cpu_request.far.empty()) text += " on another socket than that of " + cpu_request.far;
    return text;
}

base::CpuSet all_but_first_core(const CpuRequest& cpu_request, const Machine& machine)
{
    std::vector<base::CpuSet> cores;
    for (const base::Core& core : suitable(cpu_request, machine))
        if (const base::CpuSet allowed = base::common_cpus(core.cpus, machine.allowed); !allowed.empty())
            cores.push_back(allowed);
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
        cpus.merge(idle ? idle_of(cpu_request, machine, core) : base::common_cpus(listed, core.cpus));
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
            CpuPlacement placement{.cpu = cpu, .core = core, .avoided = machine.avoided.contains(cpu)};
            for (const int sibling : core.cpus)
                if (sibling != cpu && machine.avoided.contains(sibling)) placement.busy_siblings.insert(sibling);
            found.push_back(std::move(placement));
        }
    std::ranges::sort(found, [](const CpuPlacement& a, const CpuPlacement& b) { return a.cpu < b.cpu; });
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
    std::set<int> nodes = parse_nodes("--memory", text);
    for (const int node : nodes)
        if (!there.contains(node))
            base::fail_usage("--memory: NUMA node ", node, " has no memory for this process; there are ",
                             base::format_cpus(there));
    return nodes;
}

base::CpuSet own_part(const std::vector<base::Core>& cores, base::LocalRank local, bool share)
{
    if (!share && cores.size() < static_cast<std::size_t>(local.size))
        base::fail_usage(local.size, " noise processes on this host need one core each, but there are ", cores.size(),
                         " (CPUs ", base::format_cpus(base::cpus_of(cores)), "); give more --cpus, or --share");
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
    base::fail_usage("--count: '", text, "' is not a number of cores, such as 2, or all");
}

// The cores, reduced to their CPUs among `cpus`.
std::vector<base::Core> cut(const std::vector<base::Core>& cores, const base::CpuSet& cpus)
{
    std::vector<base::Core> left;
    for (base::Core core : cores) {
        core.cpus = base::common_cpus(core.cpus, cpus);
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
        base::fail_usage("factorial: ", own.size(), " stressors need one noise core each, but there are ", cores.size(),
                         " (CPUs ", base::format_cpus(all), "); use rotation(...), or more --cpus");
    std::vector<std::vector<int>> divided;
    for (std::size_t i = 0; i < schedule.stressors.size(); ++i) {
        const auto place = std::ranges::find(own, i);
        base::CpuSet cpus = all;
        if (place == own.end())
            cpus = {*all.begin()};
        else if (parts)
            cpus = base::part_of(cores, static_cast<std::size_t>(place - own.begin()), own.size());
        if (schedule.stressors[i].card->cpus == StressorCard::Cpus::one) cpus = {*cpus.begin()};
        divided.emplace_back(cpus.begin(), cpus.end());
    }
    return divided;
}

}  // namespace noisegen
