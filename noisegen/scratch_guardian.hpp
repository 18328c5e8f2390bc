// A second process that removes a scratch directory when its maker was killed.
//
// It is this program again, in a hidden mode, started with posix_spawn: unlike a plain fork that is safe while MPI has
// threads and memory that a network card writes to, and it copies nothing. It sits in a session of its own, blocks the
// signals that end noisegen, and sleeps in a read from a pipe whose other end only noisegen holds: that end closes
// however noisegen ends.
#pragma once

#include <string>

#include <sys/types.h>

namespace noisegen {

class ScratchGuardian {
 public:
    // Of the open directory `tree`, called `name` in the open directory `parent`. Starts no process if this program has
    // not called asked_to_guard(). Throws std::system_error.
    ScratchGuardian(int parent, const std::string& name, int tree);
    ~ScratchGuardian();  // lets it go and waits for its end
    ScratchGuardian(const ScratchGuardian&) = delete;
    ScratchGuardian& operator=(const ScratchGuardian&) = delete;

 private:
    int pipe_ = -1;  // the end that is written to, by nobody
    pid_t process_ = 0;
};

// The first thing in main(): was the program started to be a guardian? Then main() returns guard(). Calling it also
// tells that this program can be started so.
bool asked_to_guard(int argc, char** argv);
int guard(char** argv);

}  // namespace noisegen
