// SPDX-License-Identifier: Apache-2.0
// Victims that wait for something: a disk, the kernel's network, or a step of a training. Each repeats one kind of work
// on a CPU of its own.
#pragma once

#include "base/units.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace noisegen {

// Work in one interval; pieces follow one another and do not overlap.
struct Piece {
    std::int64_t begin_ns = 0;  // CLOCK_MONOTONIC
    std::int64_t end_ns = 0;
    double amount = 0.0;
};

class StandingVictim {
 public:
    virtual ~StandingVictim() = default;
    virtual void start() = 0;
    // Ends the victim and returns its pieces in order of time. Throws the error that kept it from working.
    virtual std::vector<Piece> stop() = 0;
};

// Repeatedly appends 4 KiB to an unnamed file in the directory and waits for fsync; the amount counts these. Throws if
// it cannot create the file.
std::unique_ptr<StandingVictim> make_fsync_victim(int cpu, const std::filesystem::path& directory);

// Sends messages of 64 KiB over TCP and loopback, both ends in one thread; the amount counts messages.
std::unique_ptr<StandingVictim> make_tcp_victim(int cpu);

// Path of ddl-train in this program's directory. Throws Unavailable if there is none.
std::filesystem::path training_program();

// Starts training_program() with the model, bound to the CPU; the amount counts steps. Waits for its first steps.
// `at_most` is how long the victim will be needed. Throws as training_program() does, and Error if the training fails.
std::unique_ptr<StandingVictim> make_step_victim(int cpu, const std::string& model, base::Nanoseconds at_most);

}  // namespace noisegen
