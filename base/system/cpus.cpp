// SPDX-License-Identifier: Apache-2.0
#include "base/system/cpus.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/environment.hpp"
#include "base/words.hpp"

#include <hwloc.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace base {

namespace {

constexpr int largest_cpu = 65535;

class KernelMask {
 public:
    KernelMask() : mask_{CPU_ALLOC(largest_cpu + 1)}
    {
        if (mask_ == nullptr) throw std::bad_alloc{};
        CPU_ZERO_S(size(), mask_);
    }
    ~KernelMask() { CPU_FREE(mask_); }
    KernelMask(const KernelMask&) = delete;
    KernelMask& operator=(const KernelMask&) = delete;

    static std::size_t size() { return CPU_ALLOC_SIZE(largest_cpu + 1); }
    cpu_set_t* get() { return mask_; }

 private:
    cpu_set_t* mask_;
};

struct DestroyTopology {
    void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, DestroyTopology>;

struct FreeBitmap {
    void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

Topology new_topology()
{
    hwloc_topology_t handle = nullptr;
    if (hwloc_topology_init(&handle) != 0) fail("cannot read the machine's topology");
    return Topology{handle};
}

// Reads the topology without caches.
Topology read_topology()
{
    // hwloc loads its plug-ins (OpenCL, X11) with the first topology and unloads them with the last one. That takes
    // longer than everything else here, so one topology is kept.
    const Silence of_hwloc;
    static const Topology keeps_plug_ins = new_topology();
    Topology topology = new_topology();
    hwloc_topology_t handle = topology.get();
    hwloc_topology_set_cache_types_filter(handle, HWLOC_TYPE_FILTER_KEEP_NONE);
    // By default hwloc omits the CPUs that a cgroup forbids: half a core would look like a whole one.
    const bool loaded = hwloc_topology_set_flags(handle, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) == 0 &&
                        hwloc_topology_load(handle) == 0;
    if (!loaded) fail("cannot read the machine's topology");
    return topology;
}

CpuSet cpus_of(hwloc_const_bitmap_t bitmap)
{
    CpuSet cpus;
    for (int cpu = hwloc_bitmap_first(bitmap); cpu >= 0; cpu = hwloc_bitmap_next(bitmap, cpu)) cpus.insert(cpu);
    return cpus;
}

}  // namespace

CpuSet parse_cpus(std::string_view text)
{
    CpuSet cpus;
    const auto number = [text](std::string_view word) {
        int cpu = -1;
        try {
            cpu = parse<int>(word);
        } catch (const UsageError&) {
        }
        if (cpu < 0 || cpu > largest_cpu) fail_usage("'", text, "' is not a list of CPUs, such as 0-3,8");
        return cpu;
    };
    for (const std::string& part : split(text, ',')) {
        const std::size_t dash = part.find('-');
        const int first = number(std::string_view{part}.substr(0, dash));
        const int last = dash == std::string::npos ? first : number(std::string_view{part}.substr(dash + 1));
        if (last < first) fail_usage("'", part, "' counts backwards");
        for (int cpu = first; cpu <= last; ++cpu) cpus.insert(cpu);
    }
    if (cpus.empty()) fail_usage("'", text, "' names no CPU");
    return cpus;
}

std::string format_cpus(const CpuSet& cpus)
{
    std::string text;
    for (auto cpu = cpus.begin(); cpu != cpus.end();) {
        const int first = *cpu;
        int last = first;
        while (++cpu != cpus.end() && *cpu == last + 1) ++last;
        if (!text.empty()) text += ',';
        text += std::to_string(first);
        if (last > first) text.append("-").append(std::to_string(last));
    }
    return text;
}

bool are_within(const CpuSet& some, const CpuSet& all)
{
    return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

bool have_common(const CpuSet& some, const CpuSet& others)
{
    return std::ranges::any_of(some, [&](int cpu) { return others.contains(cpu); });
}

CpuSet common_cpus(const CpuSet& some, const CpuSet& others)
{
    CpuSet common;
    std::set_intersection(some.begin(), some.end(), others.begin(), others.end(), std::inserter(common, common.end()));
    return common;
}

CpuSet allowed_cpus()
{
    CpuSet cpus = affinity_of(0);
    if (cpus.empty()) fail("cannot read this process's CPU affinity");
    return cpus;
}

CpuSet present_cpus()
{
    try {
        return parse_cpus(trim(read_whole("/sys/devices/system/cpu/present")));
    } catch (const Error&) {
        return allowed_cpus();
    }
}

CpuSet affinity_of(pid_t task)
{
    KernelMask mask;
    CpuSet cpus;
    // The system call, unlike glibc's wrapper, returns how many bytes the kernel wrote: fewer than a mask may have.
    const long bytes = ::syscall(SYS_sched_getaffinity, task, KernelMask::size(), mask.get());
    for (int cpu = 0; cpu < 8 * bytes; ++cpu)
        if (CPU_ISSET_S(static_cast<std::size_t>(cpu), KernelMask::size(), mask.get())) cpus.insert(cpu);
    return cpus;
}

void check_cpus(const CpuSet& cpus)
{
    const CpuSet allowed = allowed_cpus();
    for (const int cpu : cpus) {
        if (allowed.contains(cpu)) continue;
        const bool exists = std::filesystem::exists("/sys/devices/system/cpu/cpu" + std::to_string(cpu));
        const bool bound = exists && environment("OMPI_COMM_WORLD_SIZE");
        fail_usage("CPU ", cpu, exists ? " is not allowed for this process" : " does not exist",
                   "; this process may use ", format_cpus(allowed),
                   bound ? ": Open MPI binds each rank to a core without mpirun --bind-to none" : "");
    }
}

void bind_this_thread(const CpuSet& cpus)
{
    check_errno(bind_thread(0, cpus) ? 0 : -1, "bind to CPUs ", format_cpus(cpus));
}

bool bind_thread(pid_t thread, const CpuSet& cpus)
{
    KernelMask mask;
    for (const int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), KernelMask::size(), mask.get());
    return sched_setaffinity(thread, KernelMask::size(), mask.get()) == 0;
}

void set_scheduling_class(const std::string& name)
{
    const int policy = name == "idle" ? SCHED_IDLE : name == "batch" ? SCHED_BATCH : SCHED_OTHER;
    if (sched_getscheduler(0) == policy) return;
    const sched_param none{};
    check_errno(sched_setscheduler(0, policy, &none), "put this thread into the scheduling class ", name);
}

std::set<int> memory_nodes()
{
    const Topology topology = read_topology();
    return cpus_of(hwloc_topology_get_allowed_nodeset(topology.get()));
}

void take_memory_from(const std::set<int>& nodes)
{
    const Topology topology = read_topology();
    const Bitmap set{nodes.empty() ? hwloc_bitmap_dup(hwloc_topology_get_complete_nodeset(topology.get()))
                                   : hwloc_bitmap_alloc()};
    if (!set) throw std::bad_alloc{};
    for (const int node : nodes) hwloc_bitmap_set(set.get(), static_cast<unsigned>(node));
    const hwloc_membind_policy_t policy = nodes.empty() ? HWLOC_MEMBIND_DEFAULT : HWLOC_MEMBIND_BIND;
    check_errno(hwloc_set_membind(topology.get(), set.get(), policy, HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_BYNODESET),
                "take memory from NUMA nodes ", nodes.empty() ? "nearby" : format_cpus(nodes));
}

std::vector<pid_t> threads_of_this_process()
{
    std::vector<pid_t> threads;
    for (const auto& entry : std::filesystem::directory_iterator{"/proc/self/task"})
        threads.push_back(parse<int>(entry.path().filename().string()));
    std::ranges::sort(threads);
    return threads;
}

std::vector<Core> physical_cores(const CpuSet& within)
{
    const Topology topology = read_topology();
    std::vector<Core> cores;
    CpuSet missing = within;
    const int count = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_CORE);
    const hwloc_obj_type_t type = count > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
    for (hwloc_obj_t object = hwloc_get_next_obj_by_type(topology.get(), type, nullptr); object != nullptr;
         object = hwloc_get_next_obj_by_type(topology.get(), type, object)) {
        Core core;
        for (const int cpu : cpus_of(object->cpuset))
            if (missing.erase(cpu) > 0) core.cpus.insert(cpu);
        if (core.cpus.empty()) continue;
        core.index = static_cast<int>(object->logical_index);
        core.numa_node = std::max(0, hwloc_bitmap_first(object->nodeset));
        const hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology.get(), HWLOC_OBJ_PACKAGE, object);
        core.package = package == nullptr ? 0 : static_cast<int>(package->logical_index);
        cores.push_back(std::move(core));
    }
    for (const int cpu : missing) cores.push_back(Core{.cpus = {cpu}, .index = static_cast<int>(cores.size())});
    return cores;
}

CpuSet part_of(const std::vector<Core>& cores, std::size_t index, std::size_t count)
{
    CpuSet cpus;
    for (std::size_t i = index * cores.size() / count; i < (index + 1) * cores.size() / count; ++i)
        cpus.insert(cores[i].cpus.begin(), cores[i].cpus.end());
    return cpus;
}

CpuSet cpus_of(const std::vector<Core>& cores)
{
    return part_of(cores, 0, 1);
}

}  // namespace base
