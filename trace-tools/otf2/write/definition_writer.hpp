// SPDX-License-Identifier: Apache-2.0
// Writes the definitions of a recorded archive: the global ones (rank 0), and each location's numbering and clock
// offsets.
#pragma once

#include "trace-tools/otf2/write/recorded.hpp"

#include <otf2/otf2.h>

#include <vector>

namespace otf2 {

// Everything other tools need to accept an archive (Scalasca, CASITA, pipit, Vampir, otf2-print): clock, system tree,
// location groups and locations, regions, attributes, metrics, MPI groups and communicators, and our own node
// properties.
void write_global_definitions(OTF2_Archive* archive, const std::vector<ProcessRecord>& records, const Unified& unified);

// For one location of this process.
void write_local_definitions(OTF2_Archive* archive, std::uint64_t location, const Numbering& numbering,
                             const std::vector<ClockOffset>& clock_offsets);

}  // namespace otf2
