// SPDX-License-Identifier: Apache-2.0
// Stops processes of a training for known times (SIGSTOP, SIGCONT). A guardian ends the pause if this process cannot.
#pragma once

#include "base/system/processes.hpp"
#include "noisegen/stressors/control/pause_guardian.hpp"
#include "noisegen/stressors/guardian.hpp"

#include <cstdint>
#include <map>
#include <set>

#include <sys/types.h>

namespace noisegen {

class ProcessStopper {
 public:
    ProcessStopper();
    ~ProcessStopper();
    ProcessStopper(const ProcessStopper&) = delete;
    ProcessStopper& operator=(const ProcessStopper&) = delete;

    // Chooses the processes to stop: `roots` and their descendants, without those that are stopped already. Processes
    // in `named` are only included if they still live as described, since PIDs are reused. Throws Error for a process
    // of another user, for this process and for its ancestors. Takes some milliseconds.
    void choose(std::set<pid_t> roots, const std::map<pid_t, base::Process>& named = {});
    std::size_t count() const { return files_.size(); }

    struct Pause {
        std::int64_t begin_ns = 0;  // CLOCK_MONOTONIC: SIGSTOP had been sent to all processes
        std::int64_t end_ns = 0;    // SIGCONT had not been sent to any process yet
        bool all_stopped = false;   // at the end of the pause, according to the kernel
    };
    // Throws Error if the guardian is gone: without it nothing is stopped.
    Pause pause(std::int64_t length_ns);

 private:
    void forget();
    void signal(int number) const;
    bool tell(const PauseNews& news) const;  // sends a message; false if the guardian is gone

    Guardian guardian_;
    std::map<pid_t, int> files_;  // descriptors of the processes, since PIDs are reused
};

}  // namespace noisegen
