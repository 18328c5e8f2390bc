// SPDX-License-Identifier: Apache-2.0
// Work of noise: in a tenth of a second, in a slot, over the run.
#pragma once

#include "noisegen/schedule/slot_table.hpp"
#include "noisegen/stressors/stressor.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace noisegen {

// Work of a noise CPU between two times, and the request.
struct Sample {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    double requested_per_s = 0.0;  // of this CPU, in the unit of the level's rate, on average; 0: as fast as it goes
    double requested_duty = 0.0;   // 0 to 1
    Work work;
    std::int64_t busy_ns = 0;    // in bursts
    std::int64_t waited_ns = 0;  // of that: for its CPU, on which others ran

    double seconds() const { return static_cast<double>(end_ns - begin_ns) * 1e-9; }
    double bytes_per_s() const { return per_second(work.bytes); }
    double operations_per_s() const { return per_second(work.operations); }
    // Share of the time in which it had both its turn and its CPU.
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
    std::optional<std::size_t> level;  // what was assigned to this CPU; none: quiet
    Sample sample;                     // from when it really began to when it ended
};

// A level on one CPU, or on all, over the whole run.
struct LevelTotal {
    std::uint64_t slots = 0;
    std::int64_t on_ns = 0;        // in its slots; of several CPUs the sum
    std::int64_t assigned_ns = 0;  // by the slot table, as far as the run went; likewise
    Work work;
    std::int64_t busy_ns = 0;
    std::int64_t waited_ns = 0;
    double requested_per_s = 0.0;
    double requested_duty = 0.0;
    std::size_t cpus = 0;  // that ran it

    // Achieved by all these CPUs together while the level was on, and ready.
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

// Adds a sample of the same CPU; the requests are those of the sample.
void add(LevelTotal& total, const Sample& sample);

// The share of the level's rate that it had, or of its duty if it has no rate; 1 if neither was asked for.
double reached(const Intensity& intensity, const LevelTotal& total);
double reached(const Intensity& intensity, const SlotDone& slot);

// Late starts of slots and bursts, in ns.
struct Lateness {
    std::int64_t median = 0;
    std::int64_t p99 = 0;
    std::int64_t worst = 0;
};

// A rate or a duty counts as reached from this share of it on.
constexpr double rate_kept = 0.97;
// And as exceeded from this share on: steps so large that one alone is more than the time allows.
constexpr double rate_exceeded = 1.05;

// Called by the noise threads, with the index of the CPU. Each may be empty.
struct NoiseObservers {
    // After each slot.
    std::function<void(std::size_t, const SlotDone&)> on_slot = {};
    // About every tenth of a second while a level is on: the slot so far, and what was done since the last call.
    std::function<void(std::size_t, const SlotDone&, const Sample&)> on_sample = {};
    // When a level that follows the training is switched on or off: the slot so far, whether it is on, and when.
    std::function<void(std::size_t, const SlotDone&, bool, std::int64_t)> on_followed = {};
    // When a step held the training stopped: the slot so far, from when and until when.
    std::function<void(std::size_t, const SlotDone&, std::int64_t, std::int64_t)> on_stopped = {};
};

}  // namespace noisegen
