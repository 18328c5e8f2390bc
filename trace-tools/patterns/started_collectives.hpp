// Which communicator a non-blocking collective is on: an archive tells when it is waited for, and that may be in
// another order than that of the starts.
#pragma once

#include "trace-tools/otf2/reader.hpp"

#include <cstdint>
#include <vector>

namespace otf2 {

// By location: communicators in the order of the starts; nowhere: never waited for. 4 bytes a start.
using StartedCollectives = std::vector<std::vector<std::uint32_t>>;

// In a pass of its own, location by location, if the archive has a region of a non-blocking collective at all.
StartedCollectives started_collectives(Reader& reader);

}  // namespace otf2
