// An OTF2 archive as a profile: visits and times of every call path, and in archives of MPI programs wait states by
// Cube's names and the critical path.
#pragma once

#include "trace-tools/cube/cube.hpp"
#include "trace-tools/otf2/reader.hpp"

namespace otf2 {

struct ArchiveProfile {
    CubeProfile profile;
    std::vector<std::string> problems;  // of the archive, its events and its clocks
};

// Reads all events once, in the order of their time. Throws Error.
ArchiveProfile profile_of(Reader& reader);

}  // namespace otf2
