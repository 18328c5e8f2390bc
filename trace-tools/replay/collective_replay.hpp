// SPDX-License-Identifier: Apache-2.0
// Matches collective operations across ranks: the k-th operation of a communicator on one rank matches the k-th on all
// other ranks. Non-blocking collectives are counted in the order of their starts.
#pragma once

#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/replay/critical_path/recycled.hpp"
#include "trace-tools/replay/replay_state.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

namespace replay {

class CollectiveReplay {
 public:
    // The arguments come from StartedRequests.
    CollectiveReplay(ReplayState& state, std::vector<std::vector<std::uint32_t>> starts,
                     std::vector<std::vector<std::uint32_t>> blocking);

    void begin(std::uint32_t location);
    void end(std::uint32_t location, std::int64_t now_ns, const otf2::CollectiveRecord& record);
    void start(std::uint32_t location, std::uint64_t request);  // call when a non-blocking collective starts
    void complete(std::uint32_t location, std::int64_t now_ns, const otf2::CollectiveRecord& record);

    std::uint64_t clock_errors() const { return clock_errors_; }  // ended on one rank before another arrived
    std::uint64_t mismatches() const { return mismatches_; }      // mismatched operations on different ranks
    std::uint64_t unfinished() const;                             // collectives not called by all ranks

 private:
    enum class Flow { all_to_all, one_to_all, all_to_one, barrier, none };

    struct Instance {
        otf2::Operation operation = otf2::Operation::barrier;
        std::uint32_t root = otf2::no_root;
        std::vector<MpiCall, Recycled<MpiCall>> calls;  // by rank
        std::size_t ended = 0;
        // The arrival that ends the waits, as known so far: the last one, the root's, or the last start.
        std::optional<Arrival> awaited;
    };

    struct Instances {
        std::deque<Instance> open;
        std::uint64_t first = 0;          // number of open.front()
        std::vector<std::uint64_t> next;  // by rank: number of its next instance
    };

    struct Started {
        std::uint32_t communicator = 0;
        std::uint64_t number = 0;  // number of the instance
    };

    // Non-blocking collectives of a location.
    struct Starts {
        std::vector<std::uint32_t> communicators;  // see StartedRequests
        std::size_t count = 0;
        std::unordered_map<std::uint64_t, Started> open;  // by request
    };

    static Flow flow_of(otf2::Operation operation);
    static Instance& numbered(Instances& all, std::uint64_t number);
    static void drop_complete(Instances& all);

    void synchronise(Instance& instance, Flow flow, std::uint32_t communicator, std::uint32_t rank,
                     std::uint32_t location);
    std::optional<Arrival> current_arrival(std::uint32_t communicator, std::uint32_t rank);
    Arrival last_arrival(const Instance& instance, std::uint32_t communicator);
    void count_waits(const Instance& instance, Flow flow, std::uint32_t communicator);
    void count_symmetric(const Instance& instance, Pattern wait, Pattern completion, std::uint32_t communicator);
    void count_rooted(const Instance& instance, Flow flow, std::uint32_t communicator);

    ReplayState& state_;
    std::vector<Instances> blocking_;      // by communicator
    std::vector<Instances> non_blocking_;  // by communicator
    std::vector<Starts> starts_;           // by location
    struct Begins {
        std::vector<std::uint32_t> communicators;  // see StartedRequests
        std::size_t count = 0;
    };
    std::vector<Begins> begins_;  // by location
    std::uint64_t clock_errors_ = 0;
    std::uint64_t mismatches_ = 0;
};

}  // namespace replay
