// SPDX-License-Identifier: Apache-2.0
// One run of a campaign: starts the noise and the training, and checks that the run counts.
#pragma once

#include "crosstalk/campaign/plan.hpp"
#include "crosstalk/launchers/launcher.hpp"

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>

namespace crosstalk {

// Thrown if the campaign is to stop: the run is discarded, but has not failed.
struct Stopped {};

struct OneRun {
    const PlannedRun& run;
    const Spec& spec;
    const Launcher& launcher;
    std::filesystem::path directory;  // the run's directory while it is in progress
    std::function<void()> look_up;    // called every 0.1 s; may throw Stopped
};

// Returns the reason why the run does not count; empty if it counts. Throws what look_up throws, and UsageError.
std::string make_run(const OneRun& one);

// Prints the commands that the run would start.
void show_run(std::ostream& out, const OneRun& one);

// Variants of these functions: runs with constant noise or none, and designed runs, whose slots are in random order.
std::string make_steady_run(const OneRun& one);
std::string make_designed_run(const OneRun& one);
void show_steady_run(std::ostream& out, const OneRun& one);
void show_designed_run(std::ostream& out, const OneRun& one);

// The message in the last line of a log that is not blank, shortened; see message_in().
std::string last_line(const std::filesystem::path& log);

constexpr std::int64_t look_up_every_ns = 100'000'000;

}  // namespace crosstalk
