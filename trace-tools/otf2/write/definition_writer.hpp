// SPDX-License-Identifier: Apache-2.0
// Writes the definitions of a recorded archive: the global ones (on rank 0), and the reference numbers and clock
// offsets of each location.
#pragma once

#include "trace-tools/otf2/write/recorded.hpp"

#include <otf2/otf2.h>

#include <vector>

namespace otf2 {

// Writes everything that other tools need (Scalasca, CASITA, pipit, Vampir, otf2-print): clock, system tree, location
// groups and locations, regions, attributes, metrics, MPI groups and communicators, and our own node properties.
void write_global_definitions(OTF2_Archive* archive, const std::vector<ProcessRecord>& records, const Unified& unified);

// Writes the local definitions of one location of this process.
void write_local_definitions(OTF2_Archive* archive, std::uint64_t location, const Numbering& numbering,
                             const std::vector<ClockOffset>& clock_offsets);

}  // namespace otf2
