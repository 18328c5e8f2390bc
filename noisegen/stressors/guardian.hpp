// SPDX-License-Identifier: Apache-2.0
// A second process that cleans up when noisegen is killed: removes its scratch directory, continues processes that it
// had stopped, ends a neighbour's job, gives a job its CPUs back.
//
// The guardian is this program again, in a hidden mode, started with posix_spawn. Unlike a plain fork, that is safe
// while MPI has threads and memory that a network card writes to, and it copies nothing. The guardian has a session of
// its own, blocks the signals that end noisegen, and sleeps in a read from a pipe whose other end only noisegen holds:
// that end closes however noisegen ends.
#pragma once

#include "base/descriptor.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace noisegen {

class Guardian {
 public:
    enum class Duty { scratch, pause, job, cores };

    // Starts the guardian with `word` as an argument and `files` (at most two) as open descriptors. Starts nothing if
    // this program has not called asked_to_guard(). Throws std::system_error.
    Guardian(Duty duty, const std::string& word, const std::vector<int>& files);
    ~Guardian();  // closes the pipe and waits for the guardian's end
    Guardian(const Guardian&) = delete;
    Guardian& operator=(const Guardian&) = delete;

    // The pipe to the guardian; -1 if there is none.
    int pipe() const { return pipe_; }
    pid_t process() const { return process_; }

 private:
    base::Descriptor pipe_;
    pid_t process_ = 0;
};

// Numbers of the descriptors in the guardian.
enum GuardianFile : int { guarded_pipe = 3, guarded_first = 4, guarded_second = 5, first_foreign = 6 };

// Call it first in main(). Returns the duty if the program was started as a guardian. The call also registers that this
// program can be started as a guardian.
std::optional<Guardian::Duty> asked_to_guard(int argc, char** argv);

// In a guardian: false if no message of noisegen has come before the time (CLOCK_MONOTONIC).
bool wait_for_message(int pipe, std::int64_t until_ns);

}  // namespace noisegen
