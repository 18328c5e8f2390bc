// SPDX-License-Identifier: Apache-2.0
// Tries all shapes of memory.stream beside a victim.
#pragma once

#include "base/system/cpus.hpp"
#include "noisegen/measure/harm.hpp"
#include "noisegen/resources/budgets.hpp"
#include "noisegen/resources/worst_shape.hpp"

#include <optional>
#include <string>

namespace noisegen {

// The level under which the victim takes longest, among those with an interval; none if no level has one.
std::optional<std::size_t> worst_level(const WorkByBlock& work, std::size_t levels);

struct ShapeSearch {
    int victim = 0;     // its CPU
    base::CpuSet cpus;  // make noise; not the victim's
    Budgets budgets;
    std::uint64_t seed = 1;
    std::int64_t blocks = 10;    // each holds every shape once
    std::string array = "auto";  // of the victim's memory, see Victim::setup()
    std::string stressor = {};   // "memory.stream[shape=read|update]"; empty: all shapes
};

// Compares shapes by the bandwidth of a victim; takes about a minute. None if the program was asked to stop. Throws
// UsageError if the victim's CPU makes noise, and as probe(); Error if too little was measured.
std::optional<WorstShape> find_worst_shape(const ShapeSearch& search);

}  // namespace noisegen
