// SPDX-License-Identifier: Apache-2.0
// A level on one CPU for one slot: bursts on the grid of its duty, steps at its rate, samples every tenth of a second.
#pragma once

#include "base/contract/control_file.hpp"
#include "noisegen/execution/threads/bursts.hpp"
#include "noisegen/execution/threads/rate_control.hpp"
#include "noisegen/execution/threads/runqueue_delay.hpp"
#include "noisegen/execution/threads/sample.hpp"
#include "noisegen/execution/threads/stop_event.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace noisegen {

// A level on one CPU: what holds it to its intensity, from slot to slot.
struct LevelState {
    explicit LevelState(const Intensity& intensity) : bursts{intensity.duty, intensity.period} {}
    LevelTotal total;
    std::optional<RateControl> control;  // from the first slot on, if there is a rate
    Bursts bursts;
};

// Figures of one CPU over the run; times in ns.
struct CpuFigures {
    std::vector<std::int64_t> lateness_ns;  // of slots and bursts
    std::vector<std::int64_t> late_to_follow_ns;
    std::vector<std::int64_t> late_to_leave_ns;
    std::atomic<std::uint64_t> bytes = 0;
    std::atomic<std::uint64_t> operations = 0;
};

// Context of a level on a CPU.
struct StressContext {
    std::size_t cpu = 0;             // its index
    std::int64_t start_ns = 0;       // of the schedule, CLOCK_MONOTONIC
    std::int64_t deadline_ns = 0;    // the end of the slot, likewise
    double asked_per_s = 0.0;        // of this CPU while on; 0: no rate was asked for
    std::uint64_t arrival_seed = 0;  // of random arrivals
    StopEvent& stop_event;           // set when all is to end
    const RunqueueDelay& runqueue_delay;
    base::ControlPage* page = nullptr;  // of the training, if the level follows it
    const NoiseObservers& observers;
    CpuFigures& figures;
    std::function<void(double share)> fell_short;  // of the rate or duty, over the run so far
};

// Adds to `done.sample`, whose begin and requests are set, until the deadline or the stop event.
void stress(Stressor& stressor, const Intensity& intensity, LevelState& state, SlotDone& done,
            const StressContext& context);

}  // namespace noisegen
