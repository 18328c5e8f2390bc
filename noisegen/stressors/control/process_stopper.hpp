// SPDX-License-Identifier: Apache-2.0
// Stops processes of a training for known times (SIGSTOP, SIGCONT). A guardian ends the pause whatever happens here.
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

    // From now on these and their descendants are meant, those that are stopped already left out; of the named ones
    // those that still live: when one has ended, another process may get its number. Throws Error for one of another
    // user, and for this process or one that it descends from. Takes some milliseconds.
    void choose(std::set<pid_t> roots, const std::map<pid_t, base::Process>& named = {});
    std::size_t count() const { return files_.size(); }

    struct Pause {
        std::int64_t begin_ns = 0;  // CLOCK_MONOTONIC: SIGSTOP had been sent to all
        std::int64_t end_ns = 0;    // SIGCONT had been sent to none
        bool all_stopped = false;   // in the end of it, as the kernel says
    };
    // Throws Error if the guardian is gone: nothing is stopped without it.
    Pause pause(std::int64_t length_ns);

 private:
    void forget();
    void signal(int number) const;
    bool tell(const PauseNews& news) const;  // false if the guardian is gone

    Guardian guardian_;
    std::map<pid_t, int> files_;  // descriptors of the processes: a number may be used again
};

}  // namespace noisegen
