// SPDX-License-Identifier: Apache-2.0
// The runs of a campaign in the order in which they are made: randomised complete blocks.
#pragma once

#include "crosstalk/campaign/spec.hpp"

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

namespace crosstalk {

struct PlannedRun {
    std::string name;   // "b03.2": the second run of block 3
    int block = 0;      // from 1
    int position = 0;   // in its block, from 1
    std::string model;  // or the command
    std::string data;   // empty of a command, as the next
    std::string strategy;
    int ranks = 0;         // 0 of a command
    std::string noise;     // a stressor, base::campaign::no_noise or base::campaign::designed
    std::string level;     // "rate=1GiB/s"; empty if there is one
    std::string cores;     // that noise gets, a number or all; 0 without noise
    std::string schedule;  // of the noise, for noisegen; empty without noise
    std::uint64_t seed = 0;
    std::int64_t wait_ms = 0;  // from noise to the training's start

    bool operator==(const PlannedRun&) const = default;
};

using Plan = std::vector<PlannedRun>;

// Noise that is on all the time: every so often a row of noise.csv, so that its end is on record to within so much,
// whatever ends it.
inline constexpr base::Nanoseconds slot_of_steady_noise{500'000'000};

// Each training has `repetitions` blocks. A block holds every noise at every level on every number of cores once, every
// designed run once, and `quiet` runs without noise (none if there are designed runs only, which hold their own quiet
// slots), in random order; so are the blocks of a repetition. Depends on nothing but the spec.
Plan make_plan(const Spec& spec);

// Parts that are equal in all runs are left out of the name: "memory.stream[rate=1GiB/s] on 2 cores".
std::string treatment_name(const PlannedRun& run);

void write_plan(const std::filesystem::path& file, const Plan& plan);

// Throws Error for a table that is no plan.
Plan read_plan(const std::filesystem::path& file);

struct Expected {
    base::Nanoseconds time{0};
    base::Bytes disk;
};
Expected expected(const PlannedRun& run, const Spec& spec);
Expected expected(const Plan& plan, const Spec& spec);

// "30 runs in 5 blocks, about 41 minutes, about 210 MiB", and a line for each run.
void print_plan(std::ostream& out, const Plan& plan, const Spec& spec);

}  // namespace crosstalk
