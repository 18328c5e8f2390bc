// SPDX-License-Identifier: Apache-2.0
// CPUs: lists of them, the machine's physical cores (hwloc), and binding of threads.
#pragma once

#include "base/units.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace base {

// Logical CPU numbers as the kernel counts them.
using CpuSet = std::set<int>;

// "0-3,8" -> {0, 1, 2, 3, 8}. Throws UsageError for anything else, and for numbers over 65535.
CpuSet parse_cpus(std::string_view text);
std::string format_cpus(const CpuSet& cpus);
bool are_within(const CpuSet& some, const CpuSet& all);
bool have_common(const CpuSet& some, const CpuSet& others);

// CPUs this process may run on (its affinity mask, which the cgroup has already cut).
CpuSet allowed_cpus();

// All CPUs of the machine, those included that this process may not use.
CpuSet present_cpus();

// Affinity of a thread or process by id; empty if it is gone or hidden.
CpuSet affinity_of(pid_t task);

// Throws UsageError that names the first CPU that the machine lacks, or that this process may not use.
void check_cpus(const CpuSet& cpus);

// Binds the calling thread (threads it starts later inherit the mask). Throws std::system_error.
void bind_this_thread(const CpuSet& cpus);

// Binds a thread, of this process or of another one, by its id. False, with errno, where the kernel refuses.
bool bind_thread(pid_t thread, const CpuSet& cpus);

// How the kernel treats the calling thread beside others (sched(7)): "other", "batch" or "idle". Throws
// std::system_error.
void set_scheduling_class(const std::string& name);

// Numbers of the machine's NUMA nodes that have memory this process may use.
std::set<int> memory_nodes();

// From now on the calling thread's new memory, and that of threads it starts later, comes from these NUMA nodes while
// they have any, else from others; with no nodes: from the node of the CPU that touches it first. Throws
// std::system_error where the kernel cannot do that.
void take_memory_from(const std::set<int>& nodes);

// Every thread of this process, those that libraries started before main() included.
std::vector<pid_t> threads_of_this_process();

struct Core {
    CpuSet cpus;    // its SMT siblings
    int index = 0;  // among the machine's cores, in topology order, as lstopo counts them (L#)
    int numa_node = 0;
    int package = 0;
};

// The machine's physical cores in topology order, those included that this process may not use, cut down to `within`;
// cores with no CPU in it are left out. A CPU that the topology does not show is a core of its own.
std::vector<Core> physical_cores(const CpuSet& within);

// The CPUs of one of `count` parts of about the same size, in the order of the list. No core belongs to two parts; with
// fewer cores than parts some are empty.
CpuSet part_of(const std::vector<Core>& cores, std::size_t index, std::size_t count);

CpuSet cpus_of(const std::vector<Core>& cores);

}  // namespace base
