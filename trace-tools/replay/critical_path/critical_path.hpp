// SPDX-License-Identifier: Apache-2.0
// The critical path to the current event of each location, as a chain of segments.
// A location that waited continues the path of the location that it waited for.
#pragma once

#include "trace-tools/otf2/archive.hpp"
#include "trace-tools/profile/time_sums.hpp"

#include <boost/smart_ptr/local_shared_ptr.hpp>

#include <compare>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace replay {

// An activity: work or an MPI call of one location.
struct PathKey {
    std::uint32_t where = 0;     // as in TimeSums
    std::uint32_t location = 0;  // index into Archive::locations
    auto operator<=>(const PathKey&) const = default;
};

using PathTimes = std::map<PathKey, std::int64_t>;  // ns

class CriticalPathChain {
    struct Segment;

 public:
    // The end of a segment, from which the paths of other locations may continue. Copies are cheap.
    using Position = boost::local_shared_ptr<Segment>;

    explicit CriticalPathChain(std::uint32_t location = otf2::nowhere) : location_{location} {}

    // Extends the path by an activity of this location.
    void add(std::uint32_t where, std::int64_t ns)
    {
        if (ns > 0) open_segment_.add(where, ns);
    }

    // Closes the open segment.
    Position position();
    void continue_from(const Position& position);

    PathTimes times() const;

 private:
    void merge_segments();

    std::uint32_t location_;
    Position last_;  // the last closed segment
    otf2::TimeSums open_segment_;
};

}  // namespace replay
