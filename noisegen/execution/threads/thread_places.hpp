// SPDX-License-Identifier: Apache-2.0
// Checks that noise threads are still bound to their CPUs; they may be moved from outside (taskset, a cpuset).
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
    base::CpuSet to;         // CPUs where it was seen, or may run now
    std::int64_t at_ns = 0;  // CLOCK_MONOTONIC time at which the move was noticed
};

class ThreadPlaces {
 public:
    // own_binding: false if a limit may change the threads' binding.
    ThreadPlaces(const std::vector<int>& cpus, bool own_binding);

    // Called by thread `index`: after it is bound to its CPU, to check where it runs, and before it ends.
    void begin(std::size_t index);
    void look(std::size_t index);
    void end(std::size_t index);

    // Called by the main thread. Each moved thread is returned once.
    std::vector<MovedNoise> newly_moved();
    const std::vector<MovedNoise>& all() const { return moved_; }  // all moves returned so far

 private:
    struct Thread {
        int cpu = 0;
        std::atomic<pid_t> task = 0;      // the kernel's thread id; 0: does not run
        std::atomic<int> elsewhere = -1;  // another CPU on which the thread found itself, or -1
        bool reported = false;
    };

    std::deque<Thread> threads_;
    bool own_binding_;
    std::vector<MovedNoise> moved_;
};

}  // namespace noisegen
