// SPDX-License-Identifier: Apache-2.0
// A level on one CPU for one slot: bursts by its duty, steps at its rate, and a sample every tenth of a second.
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

// State of a level on one CPU that is kept from slot to slot, to hold it to its intensity.
struct LevelState {
    explicit LevelState(const Intensity& intensity) : bursts{intensity.duty, intensity.period} {}
    LevelTotal total;
    std::optional<RateControl> control;  // exists from the first slot on if the level has a rate
    Bursts bursts;
};

// Measurements of one CPU over the run; times in ns.
struct CpuFigures {
    std::vector<std::int64_t> lateness_ns;  // lateness of slots and bursts
    std::vector<std::int64_t> late_to_follow_ns;
    std::vector<std::int64_t> late_to_leave_ns;
    std::atomic<std::uint64_t> bytes = 0;
    std::atomic<std::uint64_t> operations = 0;
};

// Properties of a level's CPU and slot.
struct StressContext {
    std::size_t cpu = 0;                            // index of the CPU
    std::int64_t start_ns = 0;                      // start of the schedule, CLOCK_MONOTONIC
    std::int64_t deadline_ns = 0;                   // end of the slot, CLOCK_MONOTONIC
    double asked_per_s = 0.0;                       // requested of this CPU while on; 0: no rate
    std::uint64_t arrival_seed = 0;                 // seed of random arrivals
    StopEvent& stop_event;                          // set when the run is to stop
    const RunqueueDelay* runqueue_delay = nullptr;  // null: waiting for a CPU is not counted
    base::ControlPage* page = nullptr;              // the training's page, if the level follows it
    const NoiseObservers& observers;
    CpuFigures& figures;
    std::function<void(double share)> fell_short;  // called with the achieved share of the rate or duty
};

// Runs the stressor until the deadline or the stop event, and adds its work to `done.sample`, whose start and requested
// values must be set.
void stress(Stressor& stressor, const Intensity& intensity, LevelState& state, SlotDone& done,
            const StressContext& context);

}  // namespace noisegen
