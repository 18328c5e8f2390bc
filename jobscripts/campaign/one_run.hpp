// One run of a campaign: noise, the training beside it, and the proof that it counts.
#pragma once

#include "jobscripts/campaign/launcher.hpp"

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

}  // namespace crosstalk
