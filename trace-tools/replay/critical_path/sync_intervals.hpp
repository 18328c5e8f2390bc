// SPDX-License-Identifier: Apache-2.0
// Synchronisation intervals: the activities of a location between two synchronisation points. Two locations synchronise
// in an MPI call if both continue only after the same arrival, their own or another's; a call without a wait is not a
// synchronisation.
// Source: Boehme et al., "Identifying the root causes of wait states in large-scale parallel applications",
// TOPC 3(2), 2016; Scalasca's delay costs.
#pragma once

#include "trace-tools/otf2/archive.hpp"
#include "trace-tools/profile/time_sums.hpp"
#include "trace-tools/replay/critical_path/critical_path.hpp"
#include "trace-tools/replay/critical_path/recycled.hpp"

#include <boost/smart_ptr/local_shared_ptr.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace replay {

// Used as `where` for waiting that no delay explains, because clocks are not corrected or the trace is incomplete.
constexpr std::uint32_t unknown_cause = otf2::nowhere - 1;

// The delays that caused a wait: shares of its costs. They add up to 1; each activity occurs once, sorted by key.
struct DelayShares {
    struct Share {
        PathKey key;
        double direct = 0.0;    // a delay of the location that was waited for
        double indirect = 0.0;  // a delay that made that location wait before: propagation
    };
    std::vector<Share, Recycled<Share>> all;

    // Merges shares with equal keys, and distributes negligible shares among the others, which bounds what propagates
    // along a long chain.
    void sum_up();
};

// Ends when the location arrives at an MPI call, or when its wait for another location's arrival ends.
struct SyncInterval {
    std::uint32_t location = otf2::nowhere;  // the location whose arrival ends it
    std::int64_t end_ns = INT64_MIN;         // time of that arrival
    using Work = std::vector<otf2::TimeSums::Sum, Recycled<otf2::TimeSums::Sum>>;
    Work work = {};                                          // everything except waiting
    std::uint32_t worker = otf2::nowhere;                    // the location that did the work
    std::int64_t waited_ns = 0;                              // waiting at the end of the interval
    boost::local_shared_ptr<const DelayShares> delays = {};  // delays that caused this wait; null: no wait
    bool shared = false;                                     // it ends at a synchronisation with another location
    bool truncated = false;                                  // it replaces all earlier intervals, which were dropped
    boost::local_shared_ptr<SyncInterval> previous = {};
};

// The latest intervals of a location. Memory and time are bounded:
// 1. Old intervals that do not end with a synchronisation are merged into the next one.
// 2. The oldest intervals are dropped.
class SyncIntervals {
 public:
    using Pointer = boost::local_shared_ptr<SyncInterval>;

    void add(SyncInterval interval);
    const Pointer& last() const { return last_; }

 private:
    void merge_old();

    static constexpr std::size_t most = 256;  // beyond this number, old intervals are merged

    Pointer last_;
    std::size_t length_ = 0;  // estimate: other locations may have merged shared intervals
};

// Finds the delays that caused a wait. Keeps its tables between calls, for speed.
class DelayDetector {
 public:
    // `late` is the interval that ends with the awaited arrival. `intervals` and `work` belong to the location
    // `waiting`; `work` follows its last interval. Work that ended before `since_ns` does not count, because one of the
    // two locations did not exist yet. Returns unknown_cause for `waiting` if
    // 1. the late location neither worked longer than the waiting one nor waited, or
    // 2. their last synchronisation was dropped.
    DelayShares shares(const SyncInterval& late, const SyncIntervals& intervals, const otf2::TimeSums& work,
                       std::uint32_t waiting, std::int64_t since_ns);

 private:
    void add_late(const SyncInterval& interval);
    void add_waiting(const SyncInterval& interval);

    struct Wait {
        std::int64_t ns = 0;
        const DelayShares* delays = nullptr;
    };

    otf2::TimeSums late_work_;
    otf2::TimeSums waiting_work_;
    std::vector<std::uint32_t> workers_;  // of late_work_, by slot of `where`
    std::vector<Wait> late_waits_;
    DelayShares shares_;
};

}  // namespace replay
