// SPDX-License-Identifier: Apache-2.0
// Harm: how much longer victims take for the same work under each noise than in quiet, compared within blocks.
#pragma once

#include "noisegen/measure/victim_slowdown.hpp"
#include "noisegen/measure/victims/standing_victim.hpp"

#include <string>
#include <vector>

namespace noisegen {

// Work of one kind, by block and then by level; the last level is quiet.
using WorkByBlock = std::map<std::uint64_t, std::vector<Done>>;

// Assigns the victim's pieces of work to slots, each in proportion to the time that it spends in the slot. The first
// `settle_share` of each slot is left out, since effects of the previous slot on a disk may still continue there.
WorkByBlock work_in_slots(std::size_t levels, const std::vector<Slot>& table, std::int64_t start_ns,
                          const std::vector<Piece>& pieces, double settle_share = 0.2);

// Work of one kind by the victim that works in slices.
WorkByBlock work_of_kind(const VictimDone& done, Slice::Kind kind);

// Factor by which the same work takes longer under the level than in quiet: the geometric mean over blocks, since
// slowdowns are factors from 1 to a thousand, with its 95 % interval (Student's t of the logarithms). Blocks that lack
// the level or quiet are left out. NaN if there are too few blocks.
Estimate slowdown(const WorkByBlock& work, std::size_t level);

// Mean over all blocks; NaN if there are none.
double quiet_per_second(const WorkByBlock& work);

}  // namespace noisegen
