// SPDX-License-Identifier: Apache-2.0
// Makes a profile of an OTF2 archive: visits and times of every call path; for MPI programs also wait states, named as
// in Cube, and the critical path.
#pragma once

#include "trace-tools/cube/cube.hpp"
#include "trace-tools/otf2/read/reader.hpp"

namespace cube {

struct ArchiveProfile {
    CubeProfile profile;
    std::vector<std::string> problems;  // problems of the archive, its events and its clocks
    double tick_s = 1e-9;               // resolution in seconds: the archive clock's, but at least our 1 ns
};

// Reads all events once, in time order; with two or more threads, one reads while another analyses. The profile has one
// root. Time outside of all regions belongs to the root. The root is artificial if call paths have several roots, or if
// a location has time outside of regions between its first and its last region. Otherwise it is the archive's own root,
// which also gets the critical path's time before it. Throws Error.
ArchiveProfile profile_of(otf2::Reader& reader, int threads);

}  // namespace cube
