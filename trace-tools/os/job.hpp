// SPDX-License-Identifier: Apache-2.0
// The job that is watched: processes, their descendants, all their threads, and the CPUs these may run on.
#pragma once

#include "base/system/cpus.hpp"

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

// The living among these processes and their descendants. Descendants whose parents have ended are kept by giving the
// processes of the job before as roots.
Job job_of(const std::set<pid_t>& roots);

}  // namespace os
