// SPDX-License-Identifier: Apache-2.0
// CPU lists, the machine's physical cores (hwloc), and binding of threads.
#pragma once

#include "base/units.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace base {

// Logical CPU numbers of the kernel.
using CpuSet = std::set<int>;

// "0-3,8" -> {0, 1, 2, 3, 8}. Throws UsageError for anything else, and for numbers over 65535.
CpuSet parse_cpus(std::string_view text);
std::string format_cpus(const CpuSet& cpus);
bool are_within(const CpuSet& some, const CpuSet& all);
bool have_common(const CpuSet& some, const CpuSet& others);
CpuSet common_cpus(const CpuSet& some, const CpuSet& others);

// CPUs that this process may use: its affinity mask, which the kernel already limits to those of the cgroup.
CpuSet allowed_cpus();

// All CPUs of the machine, including those that this process may not use.
CpuSet present_cpus();

// Affinity of a thread or process; empty if it has ended or is hidden.
CpuSet affinity_of(pid_t task);

// Throws UsageError that names the first CPU that the machine lacks or this process may not use.
void check_cpus(const CpuSet& cpus);

// Binds the calling thread. Threads that it starts later inherit the mask. Throws std::system_error.
void bind_this_thread(const CpuSet& cpus);

// Binds the thread with this id, of any process. Returns false, with errno set, if the kernel refuses.
bool bind_thread(pid_t thread, const CpuSet& cpus);

// Sets the scheduling policy of the calling thread (sched(7)): "other", "batch" or "idle". Throws std::system_error.
void set_scheduling_class(const std::string& name);

// Numbers of the NUMA nodes with memory that this process may use.
std::set<int> memory_nodes();

// Sets the NUMA policy of the calling thread and of threads that it starts later: new memory comes from these nodes
// while they have any, then from others. Without nodes: from the node of the CPU that touches the memory first. Throws
// std::system_error if the kernel does not support that.
void take_memory_from(const std::set<int>& nodes);

// All threads of this process, including those that libraries started before main().
std::vector<pid_t> threads_of_this_process();

struct Core {
    CpuSet cpus;    // the core's SMT siblings
    int index = 0;  // position in the machine's topology order (L# of lstopo)
    int numa_node = 0;
    int package = 0;
};

// The machine's physical cores in topology order, including those that this process may not use. Each core is reduced
// to its CPUs in `within`; cores without any are left out. A CPU that the topology lacks is a core of its own.
std::vector<Core> physical_cores(const CpuSet& within);

// The CPUs of part `index` when the cores are divided into `count` parts of about the same size, in the order of the
// list. No core belongs to two parts; with fewer cores than parts some parts are empty.
CpuSet part_of(const std::vector<Core>& cores, std::size_t index, std::size_t count);

CpuSet cpus_of(const std::vector<Core>& cores);

}  // namespace base
