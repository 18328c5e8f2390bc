// SPDX-License-Identifier: Apache-2.0
// A location's own definitions: what its numbers stand for, and how its clock differs from the archive's.
// Includes OTF2: for the sources of this room.
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
    std::array<std::map<std::uint64_t, std::uint64_t>, mapped_spaces> numbers;  // those that stand for others
    std::vector<RawClockOffset> clock_offsets;
};

// None where the location has no file of them. The reader's files of definitions are open, the location is selected.
LocalDefinitions read_local_definitions(OTF2_Reader* reader, OTF2_LocationRef location);

void write_local_definitions(OTF2_Archive* archive, OTF2_LocationRef location, const LocalDefinitions& definitions);

// See otf2::on_common_clock(), with ticks for nanoseconds.
std::uint64_t common_time(std::uint64_t tick, const std::vector<RawClockOffset>& offsets);

}  // namespace merge
