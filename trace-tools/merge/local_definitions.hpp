// SPDX-License-Identifier: Apache-2.0
// Local definitions of a location: mapping tables of its reference numbers, and clock offsets.
// Includes OTF2's headers: for use within merge/ only.
#pragma once

#include "trace-tools/merge/raw_definitions.hpp"

#include <map>

namespace merge {

struct RawClockOffset {
    std::uint64_t at = 0;     // tick
    std::int64_t offset = 0;  // ticks
    double deviation = 0.0;
};

struct LocalDefinitions {
    std::array<std::map<std::uint64_t, std::uint64_t>, mapped_spaces> numbers;  // local to global
    std::vector<RawClockOffset> clock_offsets;
};

// Returns no definitions if the location has no file of them. The reader's definition files must be open, and the
// location selected.
LocalDefinitions read_local_definitions(OTF2_Reader* reader, OTF2_LocationRef location);

void write_local_definitions(OTF2_Archive* archive, OTF2_LocationRef location, const LocalDefinitions& definitions);

// Same as otf2::on_common_clock(), in ticks.
std::uint64_t common_time(std::uint64_t tick, const std::vector<RawClockOffset>& offsets);

}  // namespace merge
