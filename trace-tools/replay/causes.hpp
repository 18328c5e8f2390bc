// Why a location is where it is: the critical path that leads to it, and what made those late for whom it waited.
// Source: Boehme et al., "Scalable Critical-Path Based Performance Analysis", IPDPS 2012; for delay costs that of
// sync_points.hpp.
#pragma once

#include "trace-tools/profile/time_sums.hpp"
#include "trace-tools/replay/path_so_far.hpp"
#include "trace-tools/replay/sync_points.hpp"
#include "trace-tools/steps/part.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace otf2 {

using DelayCosts = std::map<PathKey, double>;  // seconds that others waited because of it

// They add up to all that was waited.
struct Delay {
    DelayCosts all;
    DelayCosts indirect;  // the part in which it was others whom it had made late that were waited for
    DelayCosts unknown;   // by the location that waited; `where` is nowhere
};

// A location as it came to an MPI call.
struct Arrival {
    std::int64_t ns = INT64_MIN;
    std::uint32_t location = nowhere;
    std::shared_ptr<const struct Past> past;  // null where causes are not followed
};

// What led a location to where it was.
struct Lead {
    std::int64_t ns = INT64_MIN;
    std::uint32_t location = nowhere;
    std::shared_ptr<const struct Handed> handed;
};

// Of all locations. Time is reported in its order; all of it belongs to an MPI call or is work.
class Causes {
 public:
    // Not followed: arrivals have a time, and all else does nothing.
    Causes(std::size_t locations, bool followed, const Part& part);

    bool followed() const { return !tracks_.empty(); }

    // The location's first event; its path begins with the first event of all.
    void begin(std::uint32_t location, std::int64_t first_of_all_ns);
    void work_until(std::uint32_t location, std::int64_t now_ns, std::uint32_t where);
    // Waited there for something that is not followed, another thread of OpenMP for example: that makes nobody late.
    void idle_until(std::uint32_t location, std::int64_t now_ns, std::uint32_t where);

    // As it came to the call that it is in since `call_ns`.
    Arrival arrival(std::uint32_t location, std::int64_t call_ns);
    // From `from_ns` it went on in its call, `where`, only because `other` had come. Without causes nothing happens.
    void wait_for(std::uint32_t location, std::uint32_t where, std::int64_t from_ns, const Arrival& other);
    void end_call(std::uint32_t location, std::int64_t now_ns, std::uint32_t where);
    // MPI_Init has ended, `where`: all meet there, and are as late as they are behind the first one.
    void meet_all(std::uint32_t location, std::int64_t now_ns, std::uint32_t where);

    // Of threads of one process that work for each other, where causes are followed. They are late together, and that
    // one waits for the other costs nobody anything.
    Lead lead(std::uint32_t location);
    // Does now what the other had given it to do; `idle_in`: where it had nothing to do but wait for that, if so.
    void take_up(std::uint32_t location, const Lead& other, std::optional<std::uint32_t> idle_in);
    // Was in `where` since its last word, for as long as the other was at work.
    void join(std::uint32_t location, std::int64_t now_ns, std::uint32_t where, const Lead& other);

    PathTimes path_to(std::uint32_t location) const;
    // `waited_ns`: by location, all that was waited.
    Delay delay_costs(const std::vector<std::int64_t>& waited_ns) const;

 private:
    // What a location did, but for waiting.
    struct Stretch {
        std::uint32_t where = 0;
        std::int64_t begin_ns = 0;
        std::int64_t end_ns = 0;
    };

    // Why it may be late.
    struct Background {
        SyncPoints points;
        std::uint32_t worker = nowhere;  // whose work it is: its own, or that of the thread it works for
        std::vector<Stretch> work;       // since the last point
    };
    friend struct Handed;

    struct Track {
        PathSoFar path;
        std::int64_t known_ns = 0;  // up to here its path is known
        Background background;
        TimeSums work_sums;                // of the background
        std::shared_ptr<const Past> past;  // of the call that it is in, if asked for
        double explained_ns = 0.0;         // of its waiting
    };

    struct Cost {
        double all_s = 0.0;
        double indirect_s = 0.0;
    };

    static void compact(Track& track);
    static void add_work(Track& track, const Stretch& more);
    static void set(Track& track, Background background);
    static void end_interval(Track& track, SyncPoint point);
    static void split(Track& track, SyncPoint& met);
    std::shared_ptr<const Shares> blame(std::uint32_t location, const Past& late, std::int64_t waited_ns);

    const Part& part_;  // of the run, whose time is summed up
    std::vector<Track> tracks_;
    std::vector<std::vector<Cost>> costs_;  // by location and slot of where
    Delays delays_;
    std::int64_t all_met_ns_ = INT64_MAX;
};

}  // namespace otf2
