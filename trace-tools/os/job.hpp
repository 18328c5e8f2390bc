// SPDX-License-Identifier: Apache-2.0
// The observed job: its processes, their descendants, all their threads, and the CPUs on which these may run.
#pragma once

#include "base/system/cpus.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include <sys/types.h>

namespace os {

struct Thread {
    pid_t process = 0;
    std::string name;
};

struct Job {
    std::set<pid_t> processes;
    std::map<pid_t, Thread> threads;  // by thread id
    base::CpuSet cpus;

    bool ended() const { return processes.empty(); }
};

// The threads whose counters are read: the first thread of each process, then others, by thread id. At most
// `most_counted`, since each takes time at each reading, and a file descriptor for each counter of perf.
inline constexpr std::size_t most_counted = 200;
std::map<pid_t, Thread> counted_threads(const Job& job);

// Finds the living processes among `roots` and their descendants. To keep descendants whose parents have ended, pass
// the previous job's processes as roots.
Job job_of(const std::set<pid_t>& roots);

}  // namespace os
