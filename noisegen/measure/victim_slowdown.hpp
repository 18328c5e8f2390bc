// SPDX-License-Identifier: Apache-2.0
// Slowdown of a victim by noise: its bandwidth and latency under each level against quiet, block by block.
#pragma once

#include "base/contract/factor_name.hpp"
#include "noisegen/measure/victims/victim.hpp"
#include "noisegen/schedule/slot_table.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace noisegen {

// A mean over blocks with its 95 % interval (Student's t; the block is the unit). NaN where there is too little to say.
struct Estimate {
    double value = 0.0;
    double low = 0.0;
    double high = 0.0;
    std::size_t blocks = 0;
};

Estimate estimate(const std::vector<double>& blocks);

// The same of ratios, by their logarithms. What disturbs either part of a block now and then cancels; in the mean of
// the ratios it would not, and make them too large.
Estimate estimate_ratio(const std::vector<double>& blocks);

// Work of the victim of a kind, and its time: on its own CPU, for another process on its CPU is no damage by
// noise; of the clock where it waits for a disk or the kernel.
struct Done {
    double amount = 0.0;
    double seconds = 0.0;
    double per_second() const { return amount / seconds; }
};

// Indexed by block, level (the last is quiet) and kind.
using DoneByBlock = std::map<std::uint64_t, std::vector<std::array<Done, Slice::kinds>>>;

struct VictimDone {
    DoneByBlock blocks;
    std::size_t slices = 0;     // that count
    std::size_t disturbed = 0;  // of those: something else had the victim's CPU for a tenth of the time or more
    // Amounts per second of each slice in quiet, by kind; without disturbed ones if there are others.
    std::array<std::vector<double>, Slice::kinds> quiet_per_second;
};

// Work of a victim beside a rotation (one level or none in each slot). A slice counts if it lies wholly in a slot, and
// begins `guard` after the slot's begin at least; `start_ns` is when the table began.
VictimDone victim_done(const Schedule& schedule, const std::vector<Slot>& table, std::int64_t start_ns,
                       const std::vector<Slice>& slices, base::Nanoseconds guard = base::Nanoseconds{2'000'000});

inline const Done& of_kind(const std::array<Done, Slice::kinds>& done, Slice::Kind kind)
{
    return done[static_cast<std::size_t>(kind)];
}

struct Damage {
    std::string stressor;  // the level's label
    std::string level;
    std::string card;  // what it is: "memory.stream"
    double own_bytes_per_s = 0.0;
    double own_operations_per_s = 0.0;
    // Ratios of means within a block: noise / quiet. See estimate_ratio().
    Estimate bandwidth_kept;        // of reading memory
    Estimate latency_factor;        // of a load from memory
    Estimate cache_latency_factor;  // of a load from the last-level cache
    std::string name() const { return base::factor_name(stressor, level); }
};

// The victim while nothing is on: the median of its slices, so that a few in which its CPU was somewhere else do not
// matter. 0 or infinite without any.
struct Alone {
    double bytes_per_s = 0.0;
    double load_ns = 0.0;
    double cached_load_ns = 0.0;
};

struct DamageReport {
    Alone alone;
    std::vector<Damage> damages;  // by level
    std::size_t slices = 0;       // that count
    // Share of the time of what noise there was in which others had its CPUs. Left to the caller too.
    double noise_waited = 0.0;
    std::size_t disturbed = 0;  // of those: something else had the victim's CPU for a tenth of the time or more
};

// Like victim_done(). Own traffic is left to the caller.
DamageReport damage(const Schedule& schedule, const std::vector<Slot>& table, std::int64_t start_ns,
                    const std::vector<Slice>& slices, base::Nanoseconds guard = base::Nanoseconds{2'000'000});

// Caveats of the figures, a sentence each: a placebo that hurts, a victim that loses without memory traffic, a machine
// on which noise does not reach the victim now.
std::vector<std::string> remarks(const DamageReport& report);

}  // namespace noisegen
