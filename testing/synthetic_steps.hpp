// SPDX-License-Identifier: Apache-2.0
// Runs without archives: slots, and steps laid end to end over them with lengths chosen by the test.
#pragma once

#include "analysis/input/designed_run.hpp"
#include "base/random.hpp"

#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace analysis::testing {

inline Assigned noise_called(const std::string& factor)
{
    return {factor, "", "simulated"};
}

// Blocks with one slot of each treatment, in random order. An empty treatment is quiet.
inline std::vector<Slot> drawn_slots(const std::vector<std::vector<Assigned>>& treatments, int blocks, double slot_ms,
                                     std::uint64_t seed)
{
    base::Random random{seed};
    std::vector<Slot> slots;
    std::int64_t time_ns = 0;
    for (int block = 0; block < blocks; ++block) {
        std::vector<std::vector<Assigned>> order = treatments;
        base::shuffle(random, std::span{order});
        for (const std::vector<Assigned>& on : order) {
            const std::int64_t begin_ns = std::exchange(time_ns, time_ns + std::llround(slot_ms * 1e6));
            slots.push_back({block, begin_ns, time_ns, on});
        }
    }
    return slots;
}

// Blocks of four slots: two quiet ones, one of "calm" and one of "net".
inline std::vector<Slot> calm_and_net(int blocks, double slot_ms, std::uint64_t seed = 1)
{
    return drawn_slots({{}, {}, {noise_called("calm")}, {noise_called("net")}}, blocks, slot_ms, seed);
}

inline bool has(const Slot& slot, const std::string& factor)
{
    for (const Assigned& on : slot.on)
        if (on.factor == factor) return true;
    return false;
}

// A run of one rank. phases_ms(step number, slot in which it begins) returns the lengths of the step's phases.
inline DesignedRun laid(const std::vector<Slot>& slots, const std::vector<std::string>& phases,
                        const std::function<std::vector<double>(std::int64_t number, const Slot& begun_in)>& phases_ms)
{
    DesignedRun run;
    run.steps.phases = phases;
    RankSteps& rank = run.steps.ranks.emplace_back();
    std::size_t slot = 0;
    std::int64_t time_ns = slots.front().begin_ns;
    while (time_ns < slots.back().end_ns) {
        while (slots[slot].end_ns <= time_ns) ++slot;
        const auto number = static_cast<std::int64_t>(run.steps.numbers.size());
        const std::vector<double> parts = phases_ms(number, slots[slot]);
        double ms = 0.0;
        for (const double part : parts) ms += part;
        run.steps.numbers.push_back(number);
        rank.begin_ns.push_back(time_ns);
        time_ns += std::llround(ms * 1e6);
        rank.end_ns.push_back(time_ns);
        rank.phase_ms.append_row(parts);
    }
    run.plan = experiment(Design::rotation, slots);
    run.slots = {slots};
    return run;
}

// The same for steps with a single phase.
inline DesignedRun laid(const std::vector<Slot>& slots,
                        const std::function<double(std::int64_t number, const Slot& begun_in)>& step_ms)
{
    return laid(slots, {"other"},
                [&](std::int64_t number, const Slot& slot) { return std::vector<double>{step_ms(number, slot)}; });
}

}  // namespace analysis::testing
