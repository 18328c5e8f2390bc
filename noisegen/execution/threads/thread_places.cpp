// SPDX-License-Identifier: Apache-2.0
#include "noisegen/execution/threads/thread_places.hpp"

#include "base/system/clock.hpp"

#include <sched.h>
#include <unistd.h>

namespace noisegen {

ThreadPlaces::ThreadPlaces(const std::vector<int>& cpus, bool own_binding) : own_binding_{own_binding}
{
    for (const int cpu : cpus) threads_.emplace_back().cpu = cpu;
}

void ThreadPlaces::begin(std::size_t index)
{
    threads_[index].task = ::gettid();
}

void ThreadPlaces::look(std::size_t index)
{
    if (const int cpu = ::sched_getcpu(); cpu != threads_[index].cpu) threads_[index].elsewhere = cpu;
}

void ThreadPlaces::end(std::size_t index)
{
    threads_[index].task = 0;
}

std::vector<MovedNoise> ThreadPlaces::newly_moved()
{
    std::vector<MovedNoise> found;
    for (Thread& thread : threads_) {
        if (thread.reported) continue;
        const base::CpuSet own{thread.cpu};
        const pid_t task = thread.task;
        base::CpuSet may = own_binding_ && task != 0 ? base::affinity_of(task) : own;
        if (may == own && thread.elsewhere >= 0) may = {thread.elsewhere};
        if (may.empty() || may == own) continue;
        thread.reported = true;
        found.push_back({.cpu = thread.cpu, .to = may, .at_ns = base::now_ns()});
    }
    moved_.insert(moved_.end(), found.begin(), found.end());
    return found;
}

}  // namespace noisegen
