// Why a location is where it is: the critical path that leads to it, and what made those late for whom it waited.
// Source: Boehme et al., "Scalable Critical-Path Based Performance Analysis", IPDPS 2012; the delay cost is Scalasca's.
#pragma once

#include "trace-tools/patterns/path_so_far.hpp"
#include "trace-tools/patterns/time_sums.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace otf2 {

using DelayCosts = std::map<PathKey, double>;  // seconds that others waited because of it

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

// Of all locations. Time is told in its order; all of it belongs to an MPI call or is work.
class Causes {
 public:
    // Not followed: arrivals have a time, and all else does nothing.
    Causes(std::size_t locations, bool followed);

    bool followed() const { return !tracks_.empty(); }

    // The location's first event; its path begins with the first event of all.
    void begin(std::uint32_t location, std::int64_t first_of_all_ns);
    void work_until(std::uint32_t location, std::int64_t now_ns, std::uint32_t where);

    // As it came to the call that it is in since `call_ns`.
    Arrival arrival(std::uint32_t location, std::int64_t call_ns);
    // It met another location in the call, if not waited for it.
    void meet(std::uint32_t location);
    // It went on only because `other` had come.
    void wait_for(std::uint32_t location, std::int64_t call_ns, const Arrival& other);
    void end_call(std::uint32_t location, std::int64_t now_ns, std::uint32_t where);

    // Of threads of one process that work for each other, where causes are followed. They are late together, and that
    // one waits for the other costs nobody anything.
    Lead lead(std::uint32_t location);
    // Does now what the other had given it to do; `idle_in`: where it had nothing to do but wait for that, if so.
    void take_up(std::uint32_t location, const Lead& other, std::optional<std::uint32_t> idle_in);
    // Was in `where` since its last word, for as long as the other was at work.
    void join(std::uint32_t location, std::int64_t now_ns, std::uint32_t where, const Lead& other);

    PathTimes path_to(std::uint32_t location) const;
    DelayCosts delay_costs() const;

 private:
    // What a location did outside of MPI.
    struct Stretch {
        std::uint32_t where = 0;
        std::int64_t begin_ns = 0;
        std::int64_t end_ns = 0;
    };

    // Why it may be late.
    struct Background {
        std::int64_t met_ns = 0;         // when it last met another one
        std::uint32_t worker = nowhere;  // whose work it is: its own, or that of the thread it works for
        std::vector<Stretch> work;       // outside of MPI since then
        std::shared_ptr<const struct Shares> inherited;
    };
    friend struct Handed;

    struct Track {
        PathSoFar path;
        std::int64_t known_ns = 0;           // up to here its path is known
        std::int64_t called_ns = INT64_MIN;  // when it was last in an MPI call
        bool meets = false;                  // in this call
        Background background;
        TimeSums work_sums;                // of the background
        std::shared_ptr<const Past> past;  // of the call that it is in, if asked for
    };

    static void compact(Track& track);
    static void add_work(Track& track, const Stretch& more);
    static void set(Track& track, Background background);
    static Background since(const Background& background, std::int64_t met_ns);
    void blame(std::uint32_t location, const Arrival& late, double waited_ns);

    std::vector<Track> tracks_;
    std::vector<std::vector<double>> delay_s_;  // by location and slot of where
    TimeSums waited_;                           // what the one that waits did; kept for its memory
};

}  // namespace otf2
