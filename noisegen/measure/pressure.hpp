// SPDX-License-Identifier: Apache-2.0
// Pressure: the effect of a program on a victim, expressed as the level of a calibrated stressor that hurts the victim
// as much.
#pragma once

#include "noisegen/measure/victim_slowdown.hpp"

#include <optional>
#include <string>
#include <vector>

namespace noisegen {

// A stressor, and the kind of victim work that measures its pressure.
struct PressureKind {
    std::string stressor;
    Slice::Kind slice = Slice::Kind::read;
    std::string victim;  // description of that work
};
const std::vector<PressureKind>& pressure_kinds();

// One value per block: 100 times the logarithm of the time for the same work relative to quiet.
struct Slowdowns {
    std::vector<double> program{};
    std::vector<double> levels;                 // what the stressor achieved at each level, rising; quiet is 0
    std::vector<std::vector<double>> by_level;  // [level][block]
};

struct Pressure {
    Estimate program;              // percent of additional time
    std::vector<Estimate> levels;  // percent of additional time at each level
    bool felt = false;             // does the victim feel the last level? If not, no level can be determined
    // `level` is where the curve through the levels equals the program's effect; low and high bound the levels at which
    // the two cannot be distinguished: there the 95 % t interval over the blocks of (program - curve) contains zero
    // (Fieller), so the errors of both count. None: beyond the last level.
    std::optional<double> level;
    double low = 0.0;
    std::optional<double> high;
};

// The curve is linear between levels, and made monotone to determine the level. Needs at least two blocks and one
// level.
Pressure pressure(const Slowdowns& slowdowns);

// Slowdowns from the blocks that contain all levels; by_level has the order of `levels`, indices of the schedule's
// levels.
Slowdowns slowdowns(const DoneByBlock& blocks, Slice::Kind kind, std::size_t program,
                    const std::vector<std::size_t>& levels, const std::vector<double>& reached);

}  // namespace noisegen
