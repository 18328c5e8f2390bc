// SPDX-License-Identifier: Apache-2.0
// One run of a campaign: noise, the training beside it, and the proof that it counts.
#pragma once

#include "crosstalk/campaign/plan.hpp"
#include "crosstalk/launchers/launcher.hpp"

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>

namespace crosstalk {

// Thrown where the campaign is to stop: the run is of no use, and was no failure.
struct Stopped {};

struct OneRun {
    const PlannedRun& run;
    const Spec& spec;
    const Launcher& launcher;
    std::filesystem::path directory;  // its own, while it goes on
    std::function<void()> look_up;    // called every tenth of a second; may throw Stopped
};

// Why the run does not count; empty if it does. Throws what look_up does, and UsageError.
std::string make_run(const OneRun& one);

// The commands that it starts.
void show_run(std::ostream& out, const OneRun& one);

// The parts of both, by what is beside the training: the same noise all the time or none, or slots in random order.
std::string make_steady_run(const OneRun& one);
std::string make_designed_run(const OneRun& one);
void show_steady_run(std::ostream& out, const OneRun& one);
void show_designed_run(std::ostream& out, const OneRun& one);

// The last line that a program of Crosstalk printed; lines of other programs and of launchers are skipped.
std::string last_line(const std::filesystem::path& log);

constexpr std::int64_t look_up_every_ns = 100'000'000;

}  // namespace crosstalk
