// Freezes a family of processes, and lets it go on: by the freezer of control groups where this user may make a group,
// else by signals to all of it.
#pragma once

#include <memory>
#include <set>

#include <sys/types.h>

namespace noisegen {

class Freezer {
 public:
    virtual ~Freezer() = default;
    virtual void freeze() = 0;  // all of them rest when it returns, or after a tenth of a second
    virtual void thaw() = 0;
    virtual const char* name() const = 0;  // "cgroup v2"
};

// Of a child of this process, which starts nothing yet, and of all that it will start; this process is the reaper of
// these. Version 2 of control groups before version 1.
std::unique_ptr<Freezer> freezer_of(pid_t pid);

// All that this process has started, and what those have.
std::set<pid_t> descendants();

}  // namespace noisegen
