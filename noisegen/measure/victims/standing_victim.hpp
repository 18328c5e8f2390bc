// SPDX-License-Identifier: Apache-2.0
// Victims that wait: for a disk, for the kernel's network, for a step of a training. Each does one thing, on a CPU of
// its own, all the time.
#pragma once

#include "base/units.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace noisegen {

// Work from one moment to the next; pieces follow one another and do not overlap.
struct Piece {
    std::int64_t begin_ns = 0;  // CLOCK_MONOTONIC
    std::int64_t end_ns = 0;
    double amount = 0.0;
};

class StandingVictim {
 public:
    virtual ~StandingVictim() = default;
    virtual void start() = 0;
    // Ends; the pieces in order of time. Throws what kept it from working.
    virtual std::vector<Piece> stop() = 0;
};

// Appends 4 KiB to an unnamed file in the directory and waits for fsync, over and over; an amount of 1 is one of these.
// Throws if it cannot create the file.
std::unique_ptr<StandingVictim> make_fsync_victim(int cpu, const std::filesystem::path& directory);

// Messages of 64 KiB over TCP and loopback, both ends in one thread; an amount of 1 is one message.
std::unique_ptr<StandingVictim> make_tcp_victim(int cpu);

// The ddl-train beside this program. Throws Unavailable if there is none.
std::filesystem::path training_program();

// A ddl-train of the model, the one beside this program, bound to the CPU; an amount of 1 is a step. Waits for its
// first steps; `at_most` is how long it will be needed. Throws as training_program(), and Error if it fails.
std::unique_ptr<StandingVictim> make_step_victim(int cpu, const std::string& model, base::Nanoseconds at_most);

}  // namespace noisegen
