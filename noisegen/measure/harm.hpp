// SPDX-License-Identifier: Apache-2.0
// Harm: how much longer victims take for the same work under each noise, block by block against quiet.
#pragma once

#include "noisegen/measure/victim_slowdown.hpp"
#include "noisegen/measure/victims/standing_victim.hpp"

#include <string>
#include <vector>

namespace noisegen {

// Work of one kind: by block, there by level (the last is quiet).
using WorkByBlock = std::map<std::uint64_t, std::vector<Done>>;

// Each slot has the share of a piece that lies in it, by time; a slot's first `settle_share` is left out, in which what
// the slot before did to a disk may still continue.
WorkByBlock work_in_slots(std::size_t levels, const std::vector<Slot>& table, std::int64_t start_ns,
                          const std::vector<Piece>& pieces, double settle_share = 0.2);

// Work of one kind of the victim that works in slices.
WorkByBlock work_of_kind(const VictimDone& done, Slice::Kind kind);

// How many times longer the same work takes under the level than under quiet: the geometric mean over blocks with its
// 95 % interval (Student's t of the logarithms), for slowdowns multiply and reach from 1 to a thousand. Blocks without
// either are left out. NaN where there is too little to say.
Estimate slowdown(const WorkByBlock& work, std::size_t level);

// Mean over all blocks. NaN without any.
double quiet_per_second(const WorkByBlock& work);

}  // namespace noisegen
