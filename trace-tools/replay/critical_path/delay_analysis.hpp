// SPDX-License-Identifier: Apache-2.0
// Critical path and delay costs: which activities of which locations made other locations wait.
// Sources: Boehme et al., "Scalable Critical-Path Based Performance Analysis", IPDPS 2012; sync_intervals.hpp.
#pragma once

#include "trace-tools/profile/time_sums.hpp"
#include "trace-tools/replay/critical_path/critical_path.hpp"
#include "trace-tools/replay/critical_path/sync_intervals.hpp"
#include "trace-tools/steps/part.hpp"

#include <boost/smart_ptr/local_shared_ptr.hpp>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace replay {

using DelayCosts = std::map<PathKey, double>;  // waiting time caused by a delay, in seconds

// `all` and `unknown` add up to all waiting.
struct DelayCostSums {
    DelayCosts all;       // direct and indirect
    DelayCosts indirect;  // the part of `all` that was caused by propagation
    DelayCosts unknown;   // by waiting location; `where` is nowhere
};

// Work or idle time, but not a wait state.
struct Activity {
    std::uint32_t where = 0;
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
};

// Candidates for the causes of other locations' waits: a location's recent intervals and work.
struct DelayContext {
    SyncIntervals intervals;
    std::uint32_t worker = otf2::nowhere;  // the location itself, or the creator of its task
    std::vector<Activity> work;            // activities since the last interval
};

// State of a location when it arrives at an MPI call.
struct ArrivalSnapshot {
    CriticalPathChain::Position path;
    SyncIntervals::Pointer interval;
};

// State of a location when it hands a task to another thread, or returns a finished one.
struct HandoffSnapshot {
    std::int64_t ns = INT64_MIN;
    CriticalPathChain::Position path;
    DelayContext context;
};

// Delay analysis of all locations. Events must be reported in time order. All time is either work or part of an MPI
// call.
class DelayAnalysis {
 public:
    DelayAnalysis(std::size_t locations, const otf2::Part& part);

    // Reports the location's first event. Its path begins with the first event of all locations. A thread made by other
    // threads of its process exists from `born_ns` on; what others did before cannot cause its waits.
    void begin(std::uint32_t location, std::int64_t first_of_all_ns, std::int64_t born_ns);
    void work_until(std::uint32_t location, std::int64_t now_ns, std::uint32_t where);
    // Reports idle time in `where`, which is not work and causes no delay. Used for waits that are not analysed, such
    // as OpenMP barriers.
    void idle_until(std::uint32_t location, std::int64_t now_ns, std::uint32_t where);

    // Reports the location's arrival at its current call, which began at `call_ns`. Call at most once for each MPI
    // call, if another location needs it.
    ArrivalSnapshot arrive(std::uint32_t location, std::int64_t call_ns);
    // The location waited in its call `where` from `from_ns` until the arrival of another location at `late_ns`.
    void wait_for(std::uint32_t location, std::uint32_t where, std::int64_t from_ns, const ArrivalSnapshot& late,
                  std::int64_t late_ns);
    // The location polled since `since_ns` in `where`, without success for `polled_ns` (reported as idle), until
    // another location had arrived at `late_ns`. Its path continues the other location's if it did little else in
    // between.
    void polled_for(std::uint32_t location, std::uint32_t where, std::int64_t since_ns, std::int64_t polled_ns,
                    const ArrivalSnapshot& late, std::int64_t late_ns);
    // The end of MPI_Init (`where`), which synchronises all locations. A location that ends later than the first one
    // has a delay.
    void synchronise_all(std::uint32_t location, std::int64_t now_ns, std::uint32_t where);

    // Tasks between threads of a process. Both threads share one delay context, so that waits between them have no
    // delay costs.
    HandoffSnapshot hand_off(std::uint32_t location);
    // Like hand_off(), for frequent handoffs: closes the current interval, so that the snapshot is cheap.
    HandoffSnapshot hand_over(std::uint32_t location);
    // The location starts a task of `creator`. Its idle time in `idle_in` since `idle_since_ns` counts as waiting from
    // the handoff on.
    void start_task(std::uint32_t location, const HandoffSnapshot& creator, std::int64_t idle_since_ns,
                    std::uint32_t idle_in);
    // The location waited in `where`, from its previous event until `done`.
    void join_task(std::uint32_t location, std::int64_t now_ns, std::uint32_t where, const HandoffSnapshot& done);

    PathTimes path_to(std::uint32_t location) const;
    // `waited_ns`: total waiting time of each location.
    DelayCostSums delay_costs(const std::vector<std::int64_t>& waited_ns) const;

 private:
    struct LocationAnalysis {
        CriticalPathChain path;
        std::int64_t known_ns = 0;  // end of the path
        DelayContext context;
        otf2::TimeSums work_sums;   // sums over context.work
        double explained_ns = 0.0;  // waiting with a known cause
        std::int64_t born_ns = INT64_MIN;
        std::size_t births = 0;  // number of entries of births_ at which its intervals were split
    };

    struct Cost {
        double all_s = 0.0;
        double indirect_s = 0.0;
    };

    static void compact(LocationAnalysis& own);
    void add_work(LocationAnalysis& own, Activity activity);
    static void add_part(LocationAnalysis& own, const Activity& activity);
    static void set_context(LocationAnalysis& own, DelayContext context);
    static void end_interval(LocationAnalysis& own, SyncInterval interval);
    static void split_interval(LocationAnalysis& own, SyncInterval& synchronisation);
    void end_wait(std::uint32_t location, const ArrivalSnapshot& late, std::int64_t part_ns, std::int64_t waited_ns);
    boost::local_shared_ptr<const DelayShares> add_delay_costs(std::uint32_t location, const ArrivalSnapshot& late,
                                                               std::int64_t waited_ns);

    const otf2::Part& part_;  // the part of the run over which times are summed
    std::vector<LocationAnalysis> locations_;
    std::vector<std::vector<Cost>> costs_;  // by location and slot of `where`
    DelayDetector detector_;
    std::vector<std::int64_t> births_;        // births of threads, where close ones are merged
    std::int64_t first_init_ns_ = INT64_MAX;  // end of the first MPI_Init
};

}  // namespace replay
