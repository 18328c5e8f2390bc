// SPDX-License-Identifier: Apache-2.0
// The runs of a campaign in order: randomised complete blocks.
#pragma once

#include "crosstalk/campaign/spec.hpp"

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

namespace crosstalk {

struct PlannedRun {
    std::string name;   // "b03.2": second run of block 3
    int block = 0;      // number, from 1
    int position = 0;   // position in its block, from 1
    std::string model;  // model, or the command
    std::string data;   // data and strategy: empty for a command
    std::string strategy;
    int ranks = 0;         // 0 for a command
    std::string noise;     // a stressor, base::campaign::no_noise or base::campaign::designed
    std::string level;     // "rate=1GiB/s"; empty if there is a single level
    std::string cores;     // number of cores for the noise, or "all"; 0 without noise
    std::string schedule;  // schedule for noisegen; empty without noise
    std::uint64_t seed = 0;
    std::int64_t wait_ms = 0;  // time from the noise's start to the training's start
    std::string options;       // ddl-train options of which the spec lists several values, with the values of this run

    bool operator==(const PlannedRun&) const = default;
};

using Plan = std::vector<PlannedRun>;

// Slot length of constant noise. Each slot is a row of noise.csv, so however the noise ends, its end is known to within
// a slot.
inline constexpr base::Nanoseconds slot_of_steady_noise{500'000'000};

// Each training has `repetitions` blocks. A block holds every noise at every level on every number of cores once, every
// designed run once, and `quiet` runs without noise (none if all runs are designed, since those contain quiet slots),
// in random order. The blocks of a repetition are in random order, too. Depends on the spec only.
Plan make_plan(const Spec& spec);

// One run for each treatment of each training, in the order of the spec; without names and seeds.
Plan combinations(const Spec& spec);

// "memory.stream[rate=1GiB/s] on 2 cores"; without the parts that are equal in all runs.
std::string treatment_name(const PlannedRun& run);

void write_plan(const std::filesystem::path& file, const Plan& plan);

// Throws Error for a table that is not a plan.
Plan read_plan(const std::filesystem::path& file);

struct Expected {
    base::Nanoseconds time{0};
    base::Bytes disk;
};
Expected expected(const PlannedRun& run, const Spec& spec);
Expected expected(const Plan& plan, const Spec& spec);

// Prints "30 runs in 5 blocks, about 41 minutes, about 210 MiB", and a line for each run.
void print_plan(std::ostream& out, const Plan& plan, const Spec& spec);

}  // namespace crosstalk
