// What the operations are that a rank has started: an archive tells that when they complete, and that may be in another
// order than that of the starts, by which MPI matches them.
#pragma once

#include "trace-tools/otf2/read/reader.hpp"

#include <compare>
#include <cstdint>
#include <vector>

namespace otf2 {

// What messages to a location have in common that MPI matches in their order.
struct Channel {
    std::uint32_t communicator = 0;
    std::uint32_t sender = 0;  // rank in it
    std::uint32_t tag = 0;
    auto operator<=>(const Channel&) const = default;
};

// Of a location.
struct StartedReceives {
    struct Blocking {
        std::uint64_t call = 0;  // the MPI call that it is in; a location's outermost ones are counted from 1
        std::uint32_t channel = 0;
        auto operator<=>(const Blocking&) const = default;
    };

    std::vector<Channel> channels;  // its own, each once
    // In the order of posting, indices into channels; nowhere: it never completes, or on another thread. Where one was
    // posted for any sender or tag these are the message's: which others it might have taken no archive tells.
    std::vector<std::uint32_t> posted;
    std::vector<Blocking> blocking;  // in their order; those outside of MPI calls are none
};

struct StartedRequests {
    // By location: the communicators of its collectives in the order of the starts; nowhere: never waited for. 4 bytes
    // a start.
    std::vector<std::vector<std::uint32_t>> collectives;
    // By location. 4 bytes for one that does not block, 16 for one that does.
    std::vector<StartedReceives> receives;
};

// In a pass of its own, location by location, if the archive has a region of such operations at all. Receives that
// block only if asked for.
StartedRequests started_requests(Reader& reader, bool blocking);

}  // namespace otf2
