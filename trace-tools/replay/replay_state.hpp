// Where all locations are at a moment of a replay of MPI: what its parts share.
#pragma once

#include "trace-tools/otf2/archive.hpp"
#include "trace-tools/replay/causes.hpp"
#include "trace-tools/replay/wait_states.hpp"
#include "trace-tools/steps/part.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace otf2 {

// An outermost MPI call; what it calls is its own.
struct MpiCall {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;           // or now
    std::uint32_t location = nowhere;  // nowhere: not known yet
    std::uint32_t where = 0;           // as in TimeSums
    std::int64_t step = -1;
};

struct Place {
    int in_mpi = 0;  // MPI calls that are open
    std::uint32_t call = 0;
    std::int64_t call_ns = 0;     // since when
    std::int64_t step = -1;       // -1: in none
    std::int64_t waiting_ns = 0;  // in wait states
    std::int64_t exposed_ns = 0;  // up to here its calls for non-blocking collectives are counted
    std::int64_t waited_ns = 0;   // up to here its waiting is counted
};

bool is_mpi(const Region& region);

struct ReplayState {
    ReplayState(const Archive& of, const Part& only, bool follow_causes, WaitSums::Sink sink);

    const Archive& archive;
    const Part& part;           // of the run, whose time is summed up
    std::vector<Place> places;  // by location
    Causes causes;
    WaitSums waits;
    std::uint64_t strangers = 0;  // MPI events that no rank of their communicator has in an MPI call

    // A rank is a process, whichever of its threads calls. None, and one stranger more, outside of an MPI call, which
    // alone tells since when.
    std::optional<std::uint32_t> rank_of(std::uint32_t communicator, std::uint32_t location);
    // The same without a stranger.
    std::optional<std::uint32_t> find_rank(std::uint32_t communicator, std::uint32_t location) const;

    // Its locations by rank; some may be none of the archive's.
    const std::vector<std::uint32_t>& members(std::uint32_t communicator) const
    {
        return archive.communicators[communicator].members;
    }
    bool is_location(std::uint32_t location) const { return location < places.size(); }

    std::uint32_t process_of(std::uint32_t location) const;  // the location itself where an archive does not tell

    MpiCall call(std::uint32_t location, std::int64_t now_ns) const;
    Arrival arrival(std::uint32_t location) { return causes.arrival(location, places[location].call_ns); }
    // Since when the call at hand may wait: of several operations in one call each has what those before have left.
    std::int64_t may_wait_from(std::uint32_t location) const
    {
        return std::max(places[location].call_ns, places[location].waited_ns);
    }
    void wait_for(std::uint32_t location, const Arrival& other)
    {
        causes.wait_for(location, places[location].call, may_wait_from(location), other);
    }

    // A blocking one. Of a process's threads the one that came last.
    void begin_collective(std::uint32_t location) { in_collective_[process_of(location)] = location; }
    void end_collective(std::uint32_t location)
    {
        std::uint32_t& inside = in_collective_[process_of(location)];
        if (inside == location) inside = nowhere;
    }
    // The thread of the member's process that is in a collective; nowhere: none is.
    std::uint32_t in_collective(std::uint32_t member) const
    {
        return is_location(member) ? in_collective_[process_of(member)] : nowhere;
    }

    // What of the time from begin to end, in the call, lies in the part; nothing where the end is not after the begin.
    void count(Pattern pattern, std::uint32_t communicator, const MpiCall& call, std::int64_t begin_ns,
               std::int64_t end_ns);

 private:
    std::vector<std::unordered_map<std::uint32_t, std::uint32_t>> ranks_;  // by communicator: process or location
    std::vector<std::uint32_t> in_collective_;                             // by process or location
};

}  // namespace otf2
