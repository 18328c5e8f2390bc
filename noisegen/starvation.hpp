// How long this thread waited for its CPU while others ran on it.
#pragma once

#include <cstdint>

namespace noisegen {

// From the scheduler's own account (/proc/thread-self/schedstat). Of the thread that makes it.
class Starvation {
 public:
    Starvation();
    ~Starvation();
    Starvation(const Starvation&) = delete;
    Starvation& operator=(const Starvation&) = delete;

    // Ready to run, but not running, since the thread began, in ns; 0 where the kernel does not tell.
    std::int64_t waited_ns() const;

 private:
    int file_ = -1;
};

}  // namespace noisegen
