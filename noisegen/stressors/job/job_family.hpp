// SPDX-License-Identifier: Apache-2.0
// All processes of a neighbour job: what its keeper started, with all descendants, and what others start for it (a
// batch system's daemon), which has its mark in the environment.
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
    // The family of children of this process, and of those marked so (base::variable::neighbour).
    explicit JobFamily(std::string mark) : mark_{std::move(mark)} {}

    // This process and zombies left out.
    std::map<pid_t, base::Process> look();

    // Those that live and that /proc did not show in the last look, such as a set-uid program under hidepid=2: they
    // can be sent signals, but whether they rest is not known.
    const std::set<pid_t>& hidden() const { return hidden_; }

 private:
    struct Seen {
        std::uint64_t started = 0;
        int looks = 0;
        bool marked = false;
    };

    bool is_marked(pid_t pid, const base::Process& process);

    std::string mark_;
    std::map<pid_t, Seen> seen_;  // whose environment was read
    std::set<pid_t> hidden_;
};

// Ends all processes with this mark after their keeper has ended: thaws and kills them, and removes their group. Takes
// five seconds at most.
void end_marked(const std::string& mark, pid_t keeper);

}  // namespace noisegen
