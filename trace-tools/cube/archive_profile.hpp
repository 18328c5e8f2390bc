// SPDX-License-Identifier: Apache-2.0
// An OTF2 archive as a profile: visits and times of every call path, and in archives of MPI programs wait states by
// Cube's names and the critical path.
#pragma once

#include "trace-tools/cube/cube.hpp"
#include "trace-tools/otf2/read/reader.hpp"

namespace cube {

struct ArchiveProfile {
    CubeProfile profile;
    std::vector<std::string> problems;  // of the archive, its events and its clocks
    double tick_s = 1e-9;               // of the archive's clock, and of ours in which times are rounded
};

// Reads all events once, in the order of their time; with two threads or more one reads and another analyses. It has
// one root. What is outside of all regions is the root's own: of an artificial one where call paths have several roots,
// or where a location has time outside of regions between its first and its last; else the archive's own root has what
// the critical path has before it. Throws Error.
ArchiveProfile profile_of(otf2::Reader& reader, int threads);

}  // namespace cube
