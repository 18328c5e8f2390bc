// SPDX-License-Identifier: Apache-2.0
// The slot table: the treatment of each slot for the whole job and run. It depends on schedule, seed and duration only.
#pragma once

#include "noisegen/schedule/schedule.hpp"

#include <cstdint>
#include <ostream>
#include <vector>

namespace noisegen {

struct Slot {
    std::uint64_t number = 0;  // number in the run, from 0
    std::uint64_t block = 0;
    std::uint64_t position = 0;  // number in the block, from 0
    base::Nanoseconds begin{};   // relative to the job's common start
    base::Nanoseconds end{};
    Treatment treatment;
};

// Covers 0 .. duration without a gap; the last slot is cut off at the duration. The same arguments give the same table
// on every machine. The slot length of a blocked schedule must be known. Throws UsageError for more than ten million
// slots.
std::vector<Slot> slot_table(const Schedule& schedule, std::uint64_t seed, base::Nanoseconds duration);

// "memory.stream[rate=4GiB/s]+io.write", or "quiet".
std::string text(const Schedule& schedule, const Treatment& treatment);

// Prints CSV: slot,block,position,begin_ns,end_ns,treatment.
void print(std::ostream& out, const Schedule& schedule, const std::vector<Slot>& table);

}  // namespace noisegen
