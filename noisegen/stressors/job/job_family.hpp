// SPDX-License-Identifier: Apache-2.0
// All processes of a neighbour job: those that its keeper started, with all descendants, and those that others started
// for it (a batch system's daemon), which carry its mark in their environment.
#pragma once

#include "base/system/processes.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include <sys/types.h>

namespace noisegen {

class JobFamily {
 public:
    // Children of this process with their descendants, and processes whose variable base::variable::neighbour is
    // `mark`.
    explicit JobFamily(std::string mark) : mark_{std::move(mark)} {}

    // Returns the family without this process and zombies.
    std::map<pid_t, base::Process> look();

    // Living processes that /proc did not show in the last look(), such as a set-uid program under hidepid=2. They can
    // be sent signals, but it is not known whether they are stopped.
    const std::set<pid_t>& hidden() const { return hidden_; }

 private:
    struct Seen {
        std::uint64_t started = 0;
        int looks = 0;
        bool marked = false;
    };

    bool is_marked(pid_t pid, const base::Process& process);

    std::string mark_;
    std::map<pid_t, Seen> seen_;  // processes whose environment was read
    std::set<pid_t> hidden_;
};

// Ends all processes with this mark after their keeper has ended: thaws and kills them, and removes their group. Takes
// at most five seconds.
void end_marked(const std::string& mark, pid_t keeper);

}  // namespace noisegen
