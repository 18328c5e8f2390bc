// SPDX-License-Identifier: Apache-2.0
// Pressure: what a program does to a victim, as the level of a calibrated stressor that hurts the victim as much.
#pragma once

#include "noisegen/measure/victim_slowdown.hpp"

#include <optional>
#include <string>
#include <vector>

namespace noisegen {

// A stressor, and the part of the victim's work by which its pressure is measured.
struct PressureKind {
    std::string stressor;
    Slice::Kind slice = Slice::Kind::read;
    std::string victim;  // in words
};
const std::vector<PressureKind>& pressure_kinds();

// 100 times the logarithm of how much longer the same work of the victim took than under quiet: a value for each block.
struct Slowdowns {
    std::vector<double> program;
    std::vector<double> levels;                 // what the stressor reached at each level, rising; quiet is 0
    std::vector<std::vector<double>> by_level;  // [level][block]
};

struct Pressure {
    Estimate program;              // percent more time
    std::vector<Estimate> levels;  // the same of each level
    bool felt = false;             // does the victim feel the last level? Else no level can be read off
    // Where the curve of the levels comes to what the program does, and the levels at which the two cannot be
    // distinguished apart: there the 95 % t interval over the blocks of program - curve holds zero (Fieller), so that
    // both errors are in it. None: beyond the last level.
    std::optional<double> level;
    double low = 0.0;
    std::optional<double> high;
};

// The curve is linear between levels, and monotone where the level is read off. Two blocks or more, one level or more.
Pressure pressure(const Slowdowns& slowdowns);

// Slowdowns from the blocks that hold all levels; by_level as `levels` of the schedule are named.
Slowdowns slowdowns(const DoneByBlock& blocks, Slice::Kind kind, std::size_t program,
                    const std::vector<std::size_t>& levels, const std::vector<double>& reached);

}  // namespace noisegen
