// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/os/job.hpp"

#include "base/files.hpp"
#include "base/system/processes.hpp"
#include "base/units.hpp"

#include <filesystem>

namespace os {

namespace fs = std::filesystem;

std::map<pid_t, Thread> counted_threads(const Job& job)
{
    if (job.threads.size() <= most_counted) return job.threads;
    std::map<pid_t, Thread> counted;
    for (const bool first : {true, false})
        for (const auto& [thread, about] : job.threads)
            if (counted.size() < most_counted && (thread == about.process) == first) counted[thread] = about;
    return counted;
}

Job job_of(const std::set<pid_t>& roots)
{
    const std::map<pid_t, base::Process> all = base::processes();
    Job job;
    for (const pid_t pid : base::with_descendants(roots, all)) {
        if (!all.contains(pid)) continue;
        job.processes.insert(pid);
        std::error_code code;
        for (const auto& entry : fs::directory_iterator{"/proc/" + std::to_string(pid) + "/task", code}) {
            const pid_t thread = base::parse<int>(entry.path().filename().string());
            Thread& found = job.threads[thread];
            found.process = pid;
            found.name = base::first_line(entry.path() / "comm");
            job.cpus.merge(base::affinity_of(thread));
        }
    }
    return job;
}

}  // namespace os
