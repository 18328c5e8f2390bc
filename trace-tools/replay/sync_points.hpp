// Why a location is late: what it did since it last met another one. Two locations meet in an MPI call where both go on
// only since the same arrival; a call for which nobody waited is no meeting. Source: Boehme et al., "Identifying the
// root causes of wait states in large-scale parallel applications", TOPC 3(2), 2016; Scalasca's delay costs.
#pragma once

#include "trace-tools/otf2/archive.hpp"
#include "trace-tools/profile/time_sums.hpp"
#include "trace-tools/replay/path_so_far.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace otf2 {

// `where` of waiting that no delay explains: of clocks that are not corrected, or a trace that is not whole.
constexpr std::uint32_t unknown_cause = nowhere - 1;

// Why a location waited: shares that add up to 1, each place once, in their order. Direct: delays of the location that
// it waited for; the others had made that one wait before.
struct Shares {
    struct Share {
        PathKey key;
        double direct = 0.0;
        double indirect = 0.0;
    };
    std::vector<Share> all;

    // Adds up what has the same key. What is negligible goes to the others: bounds what is handed on along a long
    // chain.
    void sum_up();
};

// A location came to an MPI call, or went on in one since another had come.
struct SyncPoint {
    std::uint32_t location = nowhere;        // who came
    std::int64_t ns = INT64_MIN;             // when
    std::vector<TimeSums::Sum> work = {};    // all but waiting, since the point before
    std::uint32_t worker = nowhere;          // whose work it is
    std::int64_t waited_ns = 0;              // at the end of that time
    std::shared_ptr<const Shares> why = {};  // it waited
    bool met = false;                        // another location has this point, too
    bool forgotten = false;                  // all up to here; only `ns` is left of it
    std::shared_ptr<SyncPoint> before = {};
};

// The last points of a location. Of older ones those at which it met nobody become one with the next, and the oldest
// meetings are forgotten: bounds memory and time.
class SyncPoints {
 public:
    using Point = std::shared_ptr<SyncPoint>;

    void add(SyncPoint point);
    const Point& last() const { return last_; }

 private:
    void fold();

    Point last_;
    std::size_t many_ = 0;  // about so many
};

// Compares the location that came late to `late` with the one that waited for it, which has done `work` since the last
// of its own `points`. Keeps its tables, for speed.
class Delays {
 public:
    // Where nothing explains it, or where they met last is forgotten: unknown_cause, of `waiting`.
    Shares of(const SyncPoint& late, const SyncPoints& points, const TimeSums& work, std::uint32_t waiting);

 private:
    void add_late(const SyncPoint& point);
    void add_waited(const SyncPoint& point);

    struct Wait {
        std::int64_t ns = 0;
        const Shares* why = nullptr;
    };

    TimeSums late_;
    TimeSums waited_;
    std::vector<std::uint32_t> workers_;  // by slot of where
    std::vector<Wait> waits_;             // of the late one
};

}  // namespace otf2
