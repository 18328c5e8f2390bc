// SPDX-License-Identifier: Apache-2.0
// Reading archives from anywhere. OTF2's library trusts what it reads: a damaged archive can make it crash, run for
// ever or ask for all memory. So a program that reads them works in a child process with limits, and what happens
// to the child becomes one clear line. base::confined_work is for less: its child hands an answer to the program,
// writes no file and has a fixed time; here the child is the program, and runs as long as it makes headway.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

namespace otf2 {

struct Limits {
    std::uint64_t memory_bytes = std::uint64_t{1} << 30U;  // of the child's own; none under sanitizers
    double stuck_s = 5.0;                                  // of CPU time without getting_on()
};

// For an archive: its definitions may take many times the memory of their file.
Limits limits_for(std::filesystem::path anchor);

// Forks; the child runs the work, reports an exception as `program` and ends with the code the work returns, which is
// handed on. SIGINT, SIGTERM and SIGHUP end the work where it next makes headway, by base::Interrupted; so does
// confined() then. Throws Error, one clear line, if another signal ends the child; the line names the archive that it
// read then. To be called while there is one thread.
int confined(const char* program, const Limits& limits, const std::function<int()>& work);

// The work makes headway: gives it another stuck_s, and ends it if a signal asked for that. From any thread; nothing
// outside of confined().
void getting_on();

// From now on this archive is read: if the child ends, the archive is reported, until reading_is_over().
void now_reading(const std::filesystem::path& anchor);

// All that came from outside is read: the rest of the work has the memory that the program was started with, and all
// the time it takes.
void reading_is_over();

}  // namespace otf2
