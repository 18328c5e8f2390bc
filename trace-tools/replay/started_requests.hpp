// SPDX-License-Identifier: Apache-2.0
// Communicators and channels of non-blocking operations, in the order of their starts.
// 1. An archive records these only when an operation completes.
// 2. MPI matches operations in the order of their starts, which may differ.
// So a separate pass before the replay collects them. Example: MPI_Irecv A, MPI_Irecv B, MPI_Wait B, MPI_Wait A.
#pragma once

#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/replay/open_requests.hpp"

#include <compare>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace replay {

// MPI matches messages on the same channel to a location in order.
struct Channel {
    std::uint32_t communicator = 0;
    std::uint32_t sender = 0;  // rank in the communicator
    std::uint32_t tag = 0;
    auto operator<=>(const Channel&) const = default;
};

// Receives of a location.
struct StartedReceives {
    struct Post {
        std::uint64_t call = 0;                 // number of its outermost MPI call at the location, from 1; 0: no call
        std::uint32_t channel = otf2::nowhere;  // index into channels
        auto operator<=>(const Post&) const = default;
    };

    std::vector<Channel> channels;  // without repetition

    // Non-blocking receives in the order of posting.
    // 1. Channel nowhere: the receive never completes, or it completes on another thread.
    // 2. A receive with a wildcard (any source, any tag) has the channel of its message, since archives do not record
    // wildcards.
    std::vector<Post> posted;

    std::vector<Post> blocking;  // in order, without receives outside of MPI calls

    // Groups of successive MPI_Probe, MPI_Mprobe, MPI_Iprobe and MPI_Improbe calls, with the channel of the receive
    // that follows each group; in order.
    struct Probes {
        std::uint64_t first_call = 0;
        std::uint64_t last_call = 0;
        std::uint32_t channel = otf2::nowhere;
    };
    std::vector<Probes> probes;
};

struct StartedRequests {
    // By location: the communicators of its non-blocking collectives, in the order of the starts; nowhere: the
    // collective never completes. 4 bytes for each start.
    std::vector<std::vector<std::uint32_t>> collectives;
    // By location. 16 bytes for each receive or probe.
    std::vector<StartedReceives> receives;
    // By location: the communicators of its blocking collectives, in order. Only collected if several threads of a
    // process may be in collectives at the same time.
    std::vector<std::vector<std::uint32_t>> blocking_collectives;
};

// True if the archive has regions of such operations. `blocking`: include blocking receives.
bool starts_or_receives(const otf2::Archive& archive, bool blocking);

// Reads the archive once, location by location, if it has such operations.
StartedRequests started_requests(otf2::Reader& reader, bool blocking, int threads);

// Takes all events of one location, then those of the next, and so on.
class StartCollector final : public otf2::Visitor {
 public:
    StartCollector(const otf2::Archive& archive, bool blocking);

    StartedRequests take() { return std::move(started_); }
    void add(StartedRequests other);  // adds the requests of other locations

    void enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes&) override;
    void leave(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes&) override;
    void collective_begin(const otf2::At& at) override;
    void collective_end(const otf2::At& at, const otf2::CollectiveRecord& record) override;
    void collective_request(const otf2::At& at, std::uint64_t request) override;
    void collective_complete(const otf2::At& at, const otf2::CollectiveRecord& record) override;
    void receive_request(const otf2::At& at, std::uint64_t request) override;
    void receive(const otf2::At& at, const otf2::MessageRecord& message) override;

 private:
    enum class Kind : std::uint8_t { no_mpi, mpi, probe, poll, matched_receive };  // poll: MPI_Iprobe
    struct Open {
        OpenRequests<std::size_t> collectives;  // their numbers, in the order of starts
        OpenRequests<std::size_t> receives;
        std::map<Channel, std::uint32_t> channels;
        std::vector<std::uint32_t> regions;
        int in_mpi = 0;
        std::uint64_t calls = 0;
        Kind call = Kind::no_mpi;         // kind of the last outermost call
        std::vector<std::size_t> probes;  // indices into StartedReceives::probes whose receive is not known yet
    };

    Open& of(const otf2::At& at);

    StartedRequests started_;
    std::vector<Kind> kinds_;       // by region
    std::vector<bool> in_threads_;  // by location: its process has several threads
    bool blocking_;
    std::uint32_t location_ = otf2::nowhere;
    Open open_;
};

}  // namespace replay
