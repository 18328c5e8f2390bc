// The chip table: what is on when, for the whole job and the whole run. A pure function of schedule, seed and duration.
#pragma once

#include "noisegen/schedule.hpp"

#include <cstdint>
#include <ostream>
#include <vector>

namespace noisegen {

struct Chip {
    std::uint64_t phase = 0;  // its number in the run, from 0
    std::uint64_t block = 0;
    std::uint64_t chip = 0;     // its number in the block, from 0
    base::Nanoseconds begin{};  // since the job's common start
    base::Nanoseconds end{};
    Treatment treatment;
};

// Covers 0 .. duration without a gap; the last chip is cut there. The same arguments give the same table on every
// machine. The chip length of a blocked schedule must be known. Throws UsageError for more than ten million chips.
std::vector<Chip> chip_table(const Schedule& schedule, std::uint64_t seed, base::Nanoseconds duration);

// "memory.stream[rate=4GiB/s]+io.write", or "quiet".
std::string text(const Schedule& schedule, const Treatment& treatment);

// CSV: phase,block,chip,begin_ns,end_ns,treatment.
void print(std::ostream& out, const Schedule& schedule, const std::vector<Chip>& table);

}  // namespace noisegen
