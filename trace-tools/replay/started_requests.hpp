// The communicators and channels of non-blocking operations, in the order of their starts.
// 1. An archive records them when an operation completes.
// 2. MPI matches operations in the order of their starts, which may be another one.
// So a pass before the replay looks them up. Example: MPI_Irecv A, MPI_Irecv B, MPI_Wait B, MPI_Wait A.
#pragma once

#include "trace-tools/otf2/read/reader.hpp"

#include <compare>
#include <cstdint>
#include <vector>

namespace replay {

// MPI matches the messages of one channel to a location in order.
struct Channel {
    std::uint32_t communicator = 0;
    std::uint32_t sender = 0;  // rank in it
    std::uint32_t tag = 0;
    auto operator<=>(const Channel&) const = default;
};

// Of a location.
struct StartedReceives {
    struct Blocking {
        std::uint64_t call = 0;  // number of its MPI call; outermost calls of a location are counted from 1
        std::uint32_t channel = 0;
        auto operator<=>(const Blocking&) const = default;
    };

    std::vector<Channel> channels;  // each once

    // Non-blocking receives in the order of posting: indices into channels.
    // 1. nowhere: the receive never completes, or completes on another thread.
    // 2. A receive with a wildcard (any source, any tag) has the channel of its message: archives do not record the
    //    wildcard.
    std::vector<std::uint32_t> posted;

    std::vector<Blocking> blocking;  // in order; without receives outside of MPI calls
};

struct StartedRequests {
    // By location: the communicators of its non-blocking collectives, in the order of the starts; nowhere: the
    // collective never completes. 4 bytes a start.
    std::vector<std::vector<std::uint32_t>> collectives;
    // By location. 4 bytes for a non-blocking receive, 16 for a blocking one.
    std::vector<StartedReceives> receives;
};

// Reads the archive once, location by location, if it has a region of such operations. `blocking`: blocking receives,
// too.
StartedRequests started_requests(otf2::Reader& reader, bool blocking, int threads);

}  // namespace replay
