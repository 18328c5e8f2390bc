// SPDX-License-Identifier: Apache-2.0
// Confines the processes of a job to some of their CPUs for a while, and gives them back what they had: by the masks of
// their threads. A cpuset control group is no way to do it: before Linux 6.2 narrowing one loses the masks that threads
// gave themselves, and the job's group may hold other processes.
#pragma once

#include "base/system/cpus.hpp"
#include "base/system/processes.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include <sys/types.h>

namespace noisegen {

// A thread that was confined.
struct ConfinedThread {
    pid_t rank = 0;             // the process of the job that it descends from
    pid_t process = 0;          // its own
    std::uint64_t started = 0;  // Process::started: its number may be used again
    base::CpuSet before;        // its mask before
    base::CpuSet within;        // the mask it was given
};

struct Confined {
    std::uint64_t since = 0;                  // base::ticks_since_boot() at the begin: later threads inherit a mask
    std::map<pid_t, ConfinedThread> threads;  // by thread
};

// By rank, which is a process of the job: the CPUs that it and its descendants may use.
using KeptCpus = std::map<pid_t, base::CpuSet>;

// The CPUs that each rank keeps: the first `keep` physical cores, SMT siblings included, of those that it may use and
// that no earlier rank keeps. Throws UsageError that names the rank for which too few are left.
KeptCpus kept_cpus(const std::map<pid_t, base::CpuSet>& may_use, std::size_t keep,
                   const std::vector<base::Core>& cores);

// The CPUs of all threads of a process together.
base::CpuSet cpus_of_threads(pid_t pid);

// Throws Error for processes that are not confined: of another user, this one and its ancestors.
void check_may_confine(const std::set<pid_t>& processes, const std::map<pid_t, base::Process>& all);

// Confines every thread of the ranks and of their descendants that is not on record, and records it: to those of its
// own CPUs that are kept or, if none is, to all that its rank keeps. A thread that was born confined is recorded with
// the mask that its creator had. `remember` is called before a thread is bound. Returns how many threads the kernel
// refused to bind.
std::size_t confine(const KeptCpus& kept, Confined& confined,
                    const std::function<void(pid_t, const ConfinedThread&)>& remember);

// Gives each thread on record its mask back, and threads born meanwhile that of the first thread of their process.
// Returns how many had been given another mask meanwhile, by themselves or others: they keep that one.
std::size_t restore(const Confined& confined);

}  // namespace noisegen
