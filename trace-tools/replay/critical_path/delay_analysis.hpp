// SPDX-License-Identifier: Apache-2.0
// Critical path and delay costs: which activities of which locations made others wait.
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

using DelayCosts = std::map<PathKey, double>;  // seconds of waiting that a delay caused

// `all` and `unknown` add up to all waiting.
struct DelayCostSums {
    DelayCosts all;       // direct and indirect
    DelayCosts indirect;  // the part of `all` that was caused by propagation
    DelayCosts unknown;   // by waiting location; `where` is nowhere
};

// Work or idle time; no wait state.
struct Activity {
    std::uint32_t where = 0;
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
};

// Possible parts of a location's next delay.
struct DelayContext {
    SyncIntervals intervals;
    std::uint32_t worker = otf2::nowhere;  // the location itself, or the creator of its task
    std::vector<Activity> work;            // since the last interval
};

// A location as it arrives at an MPI call.
struct ArrivalSnapshot {
    CriticalPathChain::Position path;
    SyncIntervals::Pointer interval;
};

// A location as it hands a task to another thread, or a finished one back.
struct HandoffSnapshot {
    std::int64_t ns = INT64_MIN;
    CriticalPathChain::Position path;
    DelayContext context;
};

// Delays of all locations. Events are reported in the order of time. All time is either work or part of an MPI call.
class DelayAnalysis {
 public:
    DelayAnalysis(std::size_t locations, const otf2::Part& part);

    // Reports the location's first event. Its path begins with the first event of all locations. A thread that others
    // of its process have made does no work before `born_ns`: what others did before is no cause of its waits.
    void begin(std::uint32_t location, std::int64_t first_of_all_ns, std::int64_t born_ns);
    void work_until(std::uint32_t location, std::int64_t now_ns, std::uint32_t where);
    // Idle time in `where` is no work: it causes no delay. For waits that are not analysed, such as OpenMP barriers.
    void idle_until(std::uint32_t location, std::int64_t now_ns, std::uint32_t where);

    // The location's arrival at its current call, which began at `call_ns`; once a call, if another needs it.
    ArrivalSnapshot arrive(std::uint32_t location, std::int64_t call_ns);
    // The location waited in its call, `where`, from `from_ns` until another one's arrival at `late_ns`.
    void wait_for(std::uint32_t location, std::uint32_t where, std::int64_t from_ns, const ArrivalSnapshot& late,
                  std::int64_t late_ns);
    // The location polled since `since_ns`, in `where` and in vain for `polled_ns`, which were reported as idle, until
    // after another one's arrival at `late_ns`. Its path is that one's if it did little else meanwhile.
    void polled_for(std::uint32_t location, std::uint32_t where, std::int64_t since_ns, std::int64_t polled_ns,
                    const ArrivalSnapshot& late, std::int64_t late_ns);
    // The end of MPI_Init, `where`, synchronises all locations. What a location needs longer than the first one is its
    // delay.
    void synchronise_all(std::uint32_t location, std::int64_t now_ns, std::uint32_t where);

    // Tasks between threads of one process. Both threads share one delay context: waiting for each other has no delay
    // costs.
    HandoffSnapshot hand_off(std::uint32_t location);
    // The same where there are many: what was done until then is an interval, so that a copy of it takes no time.
    HandoffSnapshot hand_over(std::uint32_t location);
    // The location starts the task of `creator`. It was idle in `idle_in` since `idle_since_ns`, which counts from the
    // handoff on.
    void start_task(std::uint32_t location, const HandoffSnapshot& creator, std::int64_t idle_since_ns,
                    std::uint32_t idle_in);
    // The location waited in `where`, since its previous event, until `done`.
    void join_task(std::uint32_t location, std::int64_t now_ns, std::uint32_t where, const HandoffSnapshot& done);

    PathTimes path_to(std::uint32_t location) const;
    // `waited_ns`: all waiting, by location.
    DelayCostSums delay_costs(const std::vector<std::int64_t>& waited_ns) const;

 private:
    struct LocationAnalysis {
        CriticalPathChain path;
        std::int64_t known_ns = 0;  // end of the path
        DelayContext context;
        otf2::TimeSums work_sums;   // of context.work
        double explained_ns = 0.0;  // waiting with a known cause
        std::int64_t born_ns = INT64_MIN;
        std::size_t births = 0;  // of births_, at which its intervals are parted
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

    const otf2::Part& part_;  // of the run whose time is summed up
    std::vector<LocationAnalysis> locations_;
    std::vector<std::vector<Cost>> costs_;  // by location and slot of where
    DelayDetector detector_;
    std::vector<std::int64_t> births_;        // of threads; some together
    std::int64_t first_init_ns_ = INT64_MAX;  // end of the first MPI_Init
};

}  // namespace replay
