// SPDX-License-Identifier: Apache-2.0
// Reads untrusted archives. OTF2's library trusts its input: a damaged archive can make it crash, loop for ever or
// exhaust memory. So programs that read archives work in a child process with limits, and a failure of the child is
// reported in one line. base::confined_work is for smaller tasks: there the child returns an answer, writes no files
// and has a fixed time; here the child is the whole program, and may run as long as it makes progress.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

namespace otf2 {

struct Limits {
    std::uint64_t memory_bytes = std::uint64_t{1} << 30U;  // RLIMIT_DATA of the child; unlimited under sanitizers
    double stuck_s = 5.0;                                  // CPU time without a call of getting_on()
};

// Limits for an archive, whose definitions may need many times the memory of their file.
Limits limits_for(std::filesystem::path anchor);

// Forks a child that runs `work`. The child reports an exception under the name `program`; the result is the exit code
// that `work` returned. SIGINT, SIGTERM and SIGHUP end the work at its next getting_on() by base::Interrupted, which
// confined() then throws as well. Throws Error with a one-line message that names the archive being read if another
// signal ends the child. Call while the process has a single thread.
int confined(const char* program, const Limits& limits, const std::function<int()>& work);

// Reports progress of the work: grants another stuck_s, and ends the work if a signal has asked for that. May be called
// from any thread; does nothing outside of confined().
void getting_on();

// Names the archive in errors if the child ends before reading_is_over().
void now_reading(const std::filesystem::path& anchor);

// All untrusted input has been read: the rest of the work gets the memory limit with which the program was started, and
// unlimited time.
void reading_is_over();

}  // namespace otf2
