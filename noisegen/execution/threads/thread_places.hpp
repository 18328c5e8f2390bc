// SPDX-License-Identifier: Apache-2.0
// Whether noise threads are where they were bound to: somebody may move them (taskset, a cpuset).
#pragma once

#include "base/system/cpus.hpp"

#include <atomic>
#include <cstdint>
#include <deque>
#include <vector>

#include <sys/types.h>

namespace noisegen {

// A noise thread that was taken off its CPU.
struct MovedNoise {
    int cpu = 0;
    base::CpuSet to;         // where it was seen, or may run now
    std::int64_t at_ns = 0;  // CLOCK_MONOTONIC: when that was noticed
};

class ThreadPlaces {
 public:
    // own_binding: nothing of ours binds the threads otherwise meanwhile (a limit may).
    ThreadPlaces(const std::vector<int>& cpus, bool own_binding);

    // Thread `index` calls these: it is bound to its CPU; it looks where it is; it ends.
    void begin(std::size_t index);
    void look(std::size_t index);
    void end(std::size_t index);

    // To be called by the main thread. Each thread is reported once.
    std::vector<MovedNoise> newly_moved();
    const std::vector<MovedNoise>& all() const { return moved_; }  // so far

 private:
    struct Thread {
        int cpu = 0;
        std::atomic<pid_t> task = 0;      // for the kernel; 0: does not run
        std::atomic<int> elsewhere = -1;  // the CPU where it saw itself, if not its own
        bool reported = false;
    };

    std::deque<Thread> threads_;
    bool own_binding_;
    std::vector<MovedNoise> moved_;
};

}  // namespace noisegen
