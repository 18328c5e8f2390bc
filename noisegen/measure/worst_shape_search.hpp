// SPDX-License-Identifier: Apache-2.0
// Compares all shapes of memory.stream by their effect on a victim.
#pragma once

#include "base/system/cpus.hpp"
#include "noisegen/measure/harm.hpp"
#include "noisegen/resources/budgets.hpp"
#include "noisegen/resources/worst_shape.hpp"

#include <optional>
#include <string>

namespace noisegen {

// The level under which the victim takes longest, among levels with an interval; none if no level has one.
std::optional<std::size_t> worst_level(const WorkByBlock& work, std::size_t levels);

struct ShapeSearch {
    int victim = 0;     // CPU of the victim
    base::CpuSet cpus;  // noise CPUs, without the victim's
    Budgets budgets{};
    std::uint64_t seed = 1;
    std::int64_t blocks = 10;    // each block contains every shape once
    std::string array = "auto";  // size of the victim's array, see Victim::setup()
    std::string stressor = {};   // "memory.stream[shape=read|update]"; empty: all shapes
};

// Compares shapes by a victim's bandwidth; takes about a minute. Returns none if the program was asked to stop. Throws
// UsageError if the victim's CPU is a noise CPU, and as probe() does; Error if too little was measured.
std::optional<WorstShape> find_worst_shape(const ShapeSearch& search);

}  // namespace noisegen
