// SPDX-License-Identifier: Apache-2.0
// Confines the processes of a job to some of their CPUs for a slot, by the CPU masks of their threads, and restores the
// masks afterwards. A cpuset control group is unsuitable: before Linux 6.2, narrowing one loses masks that threads set
// themselves, and the job's group may hold other processes.
#pragma once

#include "base/contract/job_cores.hpp"
#include "base/system/cpus.hpp"
#include "base/system/processes.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <set>

#include <sys/types.h>

namespace noisegen {

// A thread that was confined.
struct ConfinedThread {
    pid_t rank = 0;             // rank process that it belongs to or descends from
    pid_t process = 0;          // process that it belongs to
    std::uint64_t started = 0;  // Process::started, since thread ids are reused
    base::CpuSet before;        // mask before it was confined
    base::CpuSet within{};      // mask that it was given
};

struct Confined {
    std::uint64_t since = 0;  // base::ticks_since_boot() at the start: threads started later inherit a mask
    std::map<pid_t, ConfinedThread> threads{};  // by thread id
};

// Throws Error if a process must not be confined: another user's, this process, or its ancestors.
void check_may_confine(const std::set<pid_t>& processes, const std::map<pid_t, base::Process>& all);

// Confines the threads of the ranks and of their descendants that are not in `confined` yet, and adds them to it. A
// thread gets those of its own CPUs that its rank keeps or, if there are none, all CPUs that its rank keeps. A thread
// that inherited a confined mask is recorded with the previous mask of its creator. `remember` is called before each
// thread is bound. Returns the number of threads that the kernel refused to bind.
std::size_t confine(const base::job_cores::CpusOfRanks& kept, Confined& confined,
                    const std::function<void(pid_t, const ConfinedThread&)>& remember);

// Restores the mask of each recorded thread. Threads started meanwhile get the mask of their process's first thread. A
// thread whose mask was changed meanwhile keeps it; returns the number of these.
std::size_t restore(const Confined& confined);

}  // namespace noisegen
