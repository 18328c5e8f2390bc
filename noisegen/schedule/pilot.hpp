// SPDX-License-Identifier: Apache-2.0
// Pilot for slot=auto: tests with the running training, before the run begins, whether noise has effects beyond its
// slot.
#pragma once

#include "noisegen/schedule/slot_length.hpp"
#include "noisegen/schedule/slot_table.hpp"

#include <span>
#include <string>
#include <vector>

namespace noisegen {

// After-effect of a noise in the quiet slot that follows it.
struct LeftBehind {
    std::string noise;     // "mem[rate=4GiB/s]"
    double percent = 0.0;  // increase of step time relative to the quiet slots around it
    double p = 1.0;        // one-sided, of no effect; adjusted for the number of noises (Holm)

    bool lasts() const { return p <= 0.05; }
};

// Result of one round of the pilot.
struct PilotRound {
    base::Nanoseconds slot{};
    std::vector<LeftBehind> left;

    bool lasts() const;  // does a noise have an after-effect?
};

// One quiet slot, then each noise (no placebo, no control) eight times in random order, each followed by two quiet
// slots. Empty if there are no noises.
std::vector<Slot> pilot_table(const Schedule& schedule, std::uint64_t seed, base::Nanoseconds slot);

// Compares the steps in the first quiet slot after each noise with their interpolation from the quiet slots before the
// noise and after that slot, so that steady drift cancels. A step belongs to the slot in which it begins. Student's t
// over the eight repetitions.
std::vector<LeftBehind> left_behind(const Schedule& schedule, const std::vector<Slot>& table,
                                    std::span<const SeenSteps> steps);

// Does a round with such slots take, together with earlier rounds, at most a fifth of the run, and at most two minutes?
bool has_time_for_pilot(const Schedule& schedule, base::Nanoseconds slot, base::Nanoseconds duration,
                        base::Nanoseconds took = {});

// Would a run with slots twice as long still have ten blocks?
bool may_double(Schedule schedule, base::Nanoseconds slot, base::Nanoseconds duration);

}  // namespace noisegen
