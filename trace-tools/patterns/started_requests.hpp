// What non-blocking operations are that a rank has started: an archive tells that when they complete, and that may be
// in another order than that of the starts, by which MPI matches them.
#pragma once

#include "trace-tools/otf2/reader.hpp"

#include <cstdint>
#include <vector>

namespace otf2 {

struct StartedRequests {
    // By location: the communicators of its collectives in the order of the starts; nowhere: never waited for. 4 bytes
    // a start.
    std::vector<std::vector<std::uint32_t>> collectives;

    // By location: of its receives in the order of their completion, how many of the same sender, communicator and tag
    // were posted before and completed after. Where one was posted for any sender or tag these are the message's: which
    // others it might have taken no archive tells. A receive that completes on another thread than it was posted on
    // counts as posted then, and one that never completes as none. 4 bytes for each receive up to the last that was
    // ahead of another; nothing where none was.
    std::vector<std::vector<std::uint32_t>> receives_overtaken;
};

// In a pass of its own, location by location, if the archive has a region of such operations at all. It takes 16 bytes
// for each receive of a location that completes while another one is open.
StartedRequests started_requests(Reader& reader);

}  // namespace otf2
