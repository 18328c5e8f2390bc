// SPDX-License-Identifier: Apache-2.0
// Synchronisation intervals: what a location did between two synchronisation points. Two locations synchronise in an
// MPI call if both continue only after the same arrival, their own or another's; a call without a wait is none.
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

// `where` of waiting that no delay explains: clocks are not corrected, or the trace is incomplete.
constexpr std::uint32_t unknown_cause = otf2::nowhere - 1;

// The delays that caused a wait: shares of its costs. They add up to 1; each activity occurs once, sorted by key.
struct DelayShares {
    struct Share {
        PathKey key;
        double direct = 0.0;    // a delay of the location that was waited for
        double indirect = 0.0;  // a delay that made that location wait before: propagation
    };
    std::vector<Share, Recycled<Share>> all;

    // Adds up the shares of each key. Distributes negligible shares among the others: bounds what propagates along a
    // long chain.
    void sum_up();
};

// Ends when the location arrives at an MPI call, or when its wait for another location's arrival ends.
struct SyncInterval {
    std::uint32_t location = otf2::nowhere;  // whose arrival ends it
    std::int64_t end_ns = INT64_MIN;         // time of that arrival
    using Work = std::vector<otf2::TimeSums::Sum, Recycled<otf2::TimeSums::Sum>>;
    Work work = {};                                          // all but waiting
    std::uint32_t worker = otf2::nowhere;                    // the location whose work it is
    std::int64_t waited_ns = 0;                              // at its end
    boost::local_shared_ptr<const DelayShares> delays = {};  // that caused this wait; null: no wait
    bool shared = false;                                     // ends at a synchronisation with another location
    bool truncated = false;                                  // stands for all earlier intervals, which were dropped
    boost::local_shared_ptr<SyncInterval> previous = {};
};

// The last intervals of a location. Bounds memory and time:
// 1. Old intervals that end without a synchronisation become part of the next one.
// 2. The oldest intervals are dropped.
class SyncIntervals {
 public:
    using Pointer = boost::local_shared_ptr<SyncInterval>;

    void add(SyncInterval interval);
    const Pointer& last() const { return last_; }

 private:
    void merge_old();

    static constexpr std::size_t most = 256;  // before old ones are merged

    Pointer last_;
    std::size_t length_ = 0;  // estimate: other locations may have merged intervals that they share
};

// Finds the delays that caused a wait. Keeps its tables between calls, for speed.
class DelayDetector {
 public:
    // `late`: the interval that ends with the awaited arrival. `intervals` and `work` are those of the location
    // `waiting`; `work` follows its last interval. What ended before `since_ns` does not count: one of both was not
    // there yet. Returns unknown_cause of `waiting` if
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
    std::vector<std::uint32_t> workers_;  // of late_work_, by slot of where
    std::vector<Wait> late_waits_;
    DelayShares shares_;
};

}  // namespace replay
