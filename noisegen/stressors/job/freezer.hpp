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
    virtual void take(pid_t pid) = 0;  // it, and all that it starts from now on
    virtual void freeze() = 0;         // all of them rest when it returns, or after a tenth of a second
    virtual void thaw() = 0;
    virtual const char* name() const = 0;  // "cgroup v2"
};

// For descendants of this process, which is their reaper. Version 2 of control groups before version 1.
std::unique_ptr<Freezer> make_freezer();

// All that this process has started, and what those have.
std::set<pid_t> descendants();

}  // namespace noisegen
