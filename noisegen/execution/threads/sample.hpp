// SPDX-License-Identifier: Apache-2.0
// Work of noise in a tenth of a second, in a slot, and over the run.
#pragma once

#include "noisegen/schedule/slot_table.hpp"
#include "noisegen/stressors/stressor.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace noisegen {

// Work of a noise CPU between two times, with the intensity requested for it.
struct Sample {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    double requested_per_s = 0.0;  // mean rate of this CPU in the level's unit; 0: unlimited
    double requested_duty = 0.0;   // 0 to 1
    Work work;
    std::int64_t busy_ns = 0;    // in bursts, waiting included
    std::int64_t waited_ns = 0;  // part of busy_ns in which other threads had the CPU

    double seconds() const { return static_cast<double>(end_ns - begin_ns) * 1e-9; }
    double bytes_per_s() const { return per_second(work.bytes); }
    double operations_per_s() const { return per_second(work.operations); }
    // Share of the time in which a burst was on and the thread had its CPU.
    double duty() const
    {
        return end_ns > begin_ns ? static_cast<double>(busy_ns - waited_ns) * 1e-9 / seconds() : 0.0;
    }

 private:
    double per_second(std::uint64_t amount) const
    {
        const std::int64_t length_ns = end_ns - begin_ns - work.preparing_ns;
        return length_ns > 0 ? static_cast<double>(amount) * 1e9 / static_cast<double>(length_ns) : 0.0;
    }
};

// Work of a noise CPU in one slot.
struct SlotDone {
    const Slot* slot = nullptr;
    std::optional<std::size_t> level;  // level assigned to this CPU; none: quiet
    Sample sample{};                   // from the actual start of the slot to its end
};

// Work of a level over the whole run, on one CPU or on all together.
struct LevelTotal {
    std::uint64_t slots = 0;
    std::int64_t on_ns = 0;        // time in its slots, summed over CPUs
    std::int64_t assigned_ns = 0;  // time by the slot table up to the run's end, summed over CPUs
    Work work;
    std::int64_t busy_ns = 0;
    std::int64_t waited_ns = 0;
    double requested_per_s = 0.0;
    double requested_duty = 0.0;
    std::size_t cpus = 0;  // number of CPUs that ran it

    // Achieved by these CPUs together while the level was on and its stressor ready.
    double bytes_per_s() const { return per_second(work.bytes); }
    double operations_per_s() const { return per_second(work.operations); }
    double duty() const
    {
        return on_ns == 0 ? 0.0 : static_cast<double>(busy_ns - waited_ns) / static_cast<double>(on_ns);
    }

 private:
    double per_second(std::uint64_t amount) const
    {
        const std::int64_t length_ns = on_ns - work.preparing_ns;
        return length_ns > 0
                   ? static_cast<double>(amount) * static_cast<double>(cpus) * 1e9 / static_cast<double>(length_ns)
                   : 0.0;
    }
};

void add(Work& sum, const Work& work);

// Adds a sample of the same CPU; the requested values become those of the sample.
void add(LevelTotal& total, const Sample& sample);

// Achieved share of the level's rate, or of its duty if it has no rate; 1 if it has neither.
double reached(const Intensity& intensity, const LevelTotal& total);
double reached(const Intensity& intensity, const SlotDone& slot);

// Delays of the starts of slots and bursts, in ns.
struct Lateness {
    std::int64_t median = 0;
    std::int64_t p99 = 0;
    std::int64_t worst = 0;
};

// A rate or duty counts as reached if at least this share of it was achieved.
constexpr double rate_kept = 0.97;
// A rate counts as exceeded from this share on: a single step is more than the time allows.
constexpr double rate_exceeded = 1.05;

// Functions that the noise threads call with the CPU's index as first argument. Each may be empty.
struct NoiseObservers {
    // Called after each slot.
    std::function<void(std::size_t, const SlotDone&)> on_slot = {};
    // Called about every tenth of a second while a level is on, with the slot so far and the work since the last call.
    std::function<void(std::size_t, const SlotDone&, const Sample&)> on_sample = {};
    // Called when a level that follows the training is switched on or off, with the slot so far, whether it is on, and
    // the time.
    std::function<void(std::size_t, const SlotDone&, bool, std::int64_t)> on_followed = {};
    // Called after a step that stopped the training, with the slot so far and the start and end of the stop.
    std::function<void(std::size_t, const SlotDone&, std::int64_t, std::int64_t)> on_stopped = {};
};

}  // namespace noisegen
