// SPDX-License-Identifier: Apache-2.0
// slot=auto: does a noise last beyond its slot? Tried out beside the training before the run begins.
#pragma once

#include "noisegen/schedule/slot_length.hpp"
#include "noisegen/schedule/slot_table.hpp"

#include <span>
#include <string>
#include <vector>

namespace noisegen {

// The remains of a noise in the quiet slot after it.
struct LeftBehind {
    std::string noise;     // "mem[rate=4GiB/s]"
    double percent = 0.0;  // by which its steps take longer than those of the quiet slots around it
    double p = 1.0;        // one-sided, of nothing left; adjusted for the number of noises (Holm)

    bool lasts() const { return p <= 0.05; }
};

// A round of the pilot.
struct PilotRound {
    base::Nanoseconds slot{};
    std::vector<LeftBehind> left;

    bool lasts() const;  // one of the noises
};

// One quiet slot, then eight times each noise (no placebo, no control) in random order, two quiet slots after each.
// Empty without noises.
std::vector<Slot> pilot_table(const Schedule& schedule, std::uint64_t seed, base::Nanoseconds slot);

// Compares the first quiet slot after each noise with what the quiet slots before the noise and after that slot let
// expect, so that steady drift does not matter. Steps count where they begin. Student's t over the eight times.
std::vector<LeftBehind> left_behind(const Schedule& schedule, const std::vector<Slot>& table,
                                    std::span<const SeenSteps> steps);

// A round with such slots takes a fifth of the run at most, and two minutes.
bool has_time_for_pilot(const Schedule& schedule, base::Nanoseconds slot, base::Nanoseconds duration);

// Are there still ten blocks in a run with slots twice as long?
bool may_double(Schedule schedule, base::Nanoseconds slot, base::Nanoseconds duration);

}  // namespace noisegen
