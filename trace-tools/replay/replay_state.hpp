// SPDX-License-Identifier: Apache-2.0
// State of all locations during a replay of MPI, shared by the parts of the replay.
#pragma once

#include "trace-tools/otf2/archive.hpp"
#include "trace-tools/replay/critical_path/delay_replay.hpp"
#include "trace-tools/replay/wait_states.hpp"
#include "trace-tools/steps/part.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace replay {

// An outermost MPI call, including the MPI calls that it makes.
struct MpiCall {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;                 // current time while the call is open
    std::uint32_t location = otf2::nowhere;  // nowhere: no call yet
    std::uint32_t where = 0;                 // as in TimeSums
    std::int64_t step = -1;
};

struct LocationState {
    int in_mpi = 0;  // number of open MPI calls
    std::uint32_t call = 0;
    std::int64_t call_ns = 0;     // start of the call
    std::int64_t step = -1;       // -1: outside of steps
    std::int64_t waiting_ns = 0;  // total time in wait states
    std::int64_t exposed_ns = 0;  // end of the time already counted for icollective_exposed
    std::int64_t waited_ns = 0;   // end of the time already counted for wait states
};

struct ReplayState {
    ReplayState(const otf2::Archive& of, const otf2::Part& only, DelayReplay::How how, WaitSums::Sink sink);

    const otf2::Archive& archive;
    const otf2::Part& part;  // the part of the run over which times are summed
    std::vector<LocationState> locations;
    DelayReplay delays;
    WaitSums waits;
    std::uint64_t unmatched_events = 0;  // MPI events outside of MPI calls, or without a rank or request

    // Rank of the location's process. None, and counted as an unmatched event, if
    // 1. the process is not a rank of the communicator, or
    // 2. the location is outside of MPI calls: the start of the operation is unknown.
    std::optional<std::uint32_t> rank_of(std::uint32_t communicator, std::uint32_t location);
    // Like rank_of(), without counting.
    std::optional<std::uint32_t> find_rank(std::uint32_t communicator, std::uint32_t location) const;
    // Like find_rank(), whether or not the location is in an MPI call.
    std::optional<std::uint32_t> member_rank(std::uint32_t communicator, std::uint32_t location) const;

    // Locations in rank order; nowhere: not defined in the archive.
    const std::vector<std::uint32_t>& members(std::uint32_t communicator) const
    {
        return archive.communicators[communicator].members;
    }
    bool is_location(std::uint32_t location) const { return location < locations.size(); }

    std::uint32_t process_of(std::uint32_t location) const;  // the location itself if unknown

    MpiCall call(std::uint32_t location, std::int64_t now_ns) const;
    Arrival arrival(std::uint32_t location) { return delays.arrival(location, locations[location].call_ns); }
    // Earliest start of a wait in the current call. With several operations in one call, this is the end of the
    // previous wait.
    std::int64_t wait_begin_ns(std::uint32_t location) const
    {
        return std::max(locations[location].call_ns, locations[location].waited_ns);
    }
    void wait_for(std::uint32_t location, const Arrival& other)
    {
        delays.wait_for(location, locations[location].call, wait_begin_ns(location), other);
    }

    // Marks the start of a blocking collective. The communicator may be nowhere (unknown) if the process has a single
    // thread, or if it is not needed.
    void begin_collective(std::uint32_t location, std::uint32_t communicator)
    {
        in_collective_[process_of(location)].push_back({location, communicator});
    }
    void end_collective(std::uint32_t location)
    {
        std::erase_if(in_collective_[process_of(location)],
                      [&](const InCollective& inside) { return inside.location == location; });
    }
    // The thread of a member's process that is in a collective of the communicator; nowhere: none.
    std::uint32_t in_collective(std::uint32_t member, std::uint32_t communicator) const
    {
        if (!is_location(member)) return otf2::nowhere;
        for (const InCollective& inside : in_collective_[process_of(member)])
            if (inside.communicator == communicator || inside.communicator == otf2::nowhere) return inside.location;
        return otf2::nowhere;
    }

    // Adds the part of the interval that lies in the selected part of the run. Ignores intervals whose end is before
    // their start.
    void count(Pattern pattern, std::uint32_t communicator, const MpiCall& call, std::int64_t begin_ns,
               std::int64_t end_ns);

 private:
    // Ranks of a communicator: rank by process or location.
    class Ranks {
     public:
        Ranks(std::size_t places, std::size_t members);
        void add(std::uint32_t place, std::uint32_t rank);
        std::uint32_t find(std::uint32_t place) const;  // nowhere: not a rank

     private:
        std::vector<std::uint32_t> all_;                         // by place; empty for small communicators
        std::unordered_map<std::uint32_t, std::uint32_t> some_;  // used for a small communicator
    };

    std::vector<Ranks> ranks_;  // by communicator
    struct InCollective {
        std::uint32_t location = otf2::nowhere;
        std::uint32_t communicator = otf2::nowhere;
    };
    std::vector<std::vector<InCollective>> in_collective_;  // by process or location
};

}  // namespace replay
