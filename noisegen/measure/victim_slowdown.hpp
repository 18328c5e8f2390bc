// SPDX-License-Identifier: Apache-2.0
// Slowdown of a victim by noise: its bandwidth and latency under each level relative to quiet, within blocks.
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

// A mean over blocks with its 95 % interval (Student's t; the block is the unit). NaN if there are too few blocks.
struct Estimate {
    double value = 0.0;
    double low = 0.0;
    double high = 0.0;
    std::size_t blocks = 0;
};

Estimate estimate(const std::vector<double>& blocks);

// The same for ratios, computed from their logarithms: an occasional disturbance of either part of a block then
// cancels, whereas it would make the mean of the ratios too large.
Estimate estimate_ratio(const std::vector<double>& blocks);

// Amount of the victim's work of one kind, and the time for it: CPU time, since another process on the victim's CPU is
// no damage by the noise; wall time if the victim waits for a disk or the kernel.
struct Done {
    double amount = 0.0;
    double seconds = 0.0;
    double per_second() const { return amount / seconds; }
};

// Indexed by block, level (the last is quiet) and kind.
using DoneByBlock = std::map<std::uint64_t, std::vector<std::array<Done, Slice::kinds>>>;

struct VictimDone {
    DoneByBlock blocks;
    std::size_t slices = 0;     // slices that count
    std::size_t disturbed = 0;  // slices in which another thread had the victim's CPU for a tenth of the time or more
    // Rates per second of each slice in quiet, by kind; disturbed slices are left out if there are others.
    std::array<std::vector<double>, Slice::kinds> quiet_per_second;
};

// Work of a victim under a rotation (at most one level in each slot). A slice counts if it lies wholly inside a slot
// and begins at least `guard` after the slot's start. `start_ns` is when the table began.
VictimDone victim_done(const Schedule& schedule, const std::vector<Slot>& table, std::int64_t start_ns,
                       const std::vector<Slice>& slices, base::Nanoseconds guard = base::Nanoseconds{2'000'000});

inline const Done& of_kind(const std::array<Done, Slice::kinds>& done, Slice::Kind kind)
{
    return done[static_cast<std::size_t>(kind)];
}

struct Damage {
    std::string stressor;  // label of the level
    std::string level;
    std::string card;  // name of the stressor: "memory.stream"
    double own_bytes_per_s = 0.0;
    double own_operations_per_s = 0.0;
    // Ratios noise / quiet of means within a block, see estimate_ratio().
    Estimate bandwidth_kept;        // bandwidth of reading memory
    Estimate latency_factor;        // latency of a load from memory
    Estimate cache_latency_factor;  // latency of a load from the last-level cache
    std::string name() const { return base::factor_name(stressor, level); }
};

// The victim in quiet: the median of its slices, which a few slices without its CPU do not affect. 0 or infinite if
// there are no slices.
struct Alone {
    double bytes_per_s = 0.0;
    double load_ns = 0.0;
    double cached_load_ns = 0.0;
};

struct DamageReport {
    Alone alone{};
    std::vector<Damage> damages;  // one element per level
    std::size_t slices = 0;       // slices that count
    // Share of the noise's time in which other threads had its CPUs. Filled by the caller.
    double noise_waited = 0.0;
    std::size_t disturbed = 0;  // slices in which another thread had the victim's CPU for a tenth of the time or more
};

// Uses victim_done(). The caller fills in the noise's own traffic.
DamageReport damage(const Schedule& schedule, const std::vector<Slot>& table, std::int64_t start_ns,
                    const std::vector<Slice>& slices, base::Nanoseconds guard = base::Nanoseconds{2'000'000});

// Caveats about the results, one sentence each: a placebo that hurts, a victim that loses without memory traffic, a
// machine on which noise does not reach the victim at present.
std::vector<std::string> remarks(const DamageReport& report);

}  // namespace noisegen
