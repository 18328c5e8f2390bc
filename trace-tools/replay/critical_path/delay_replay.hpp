// SPDX-License-Identifier: Apache-2.0
// Runs the delay analysis for a replay: on the replaying thread, or on a separate thread that receives the calls in
// order. Results are only available after finish().
#pragma once

#include "base/system/conveyor.hpp"
#include "trace-tools/replay/critical_path/delay_analysis.hpp"
#include "trace-tools/steps/part.hpp"

#include <boost/smart_ptr/local_shared_ptr.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <variant>
#include <vector>

namespace replay {

// The arrival of a location at an MPI call.
struct Arrival {
    std::int64_t ns = INT64_MIN;
    std::uint32_t location = otf2::nowhere;
    boost::local_shared_ptr<const ArrivalSnapshot> snapshot;  // for the analysis only; null without one
};

// State of a location when it hands a task to another thread, or returns a finished one.
struct Handoff {
    std::uint32_t location = otf2::nowhere;
    boost::local_shared_ptr<const HandoffSnapshot> snapshot;  // for the analysis only
};

// Forwards to DelayAnalysis.
class DelayReplay {
 public:
    struct How {
        bool enabled = true;  // if false, arrivals have a time but no snapshot, and all other functions do nothing
        int threads = 1;      // with two or more, a separate thread analyses
        std::function<bool()> meanwhile = {};  // see base::Conveyor
    };
    DelayReplay(std::size_t locations, How how, const otf2::Part& part);

    bool enabled() const { return analysis_.has_value(); }

    // Exceptions of the analysing thread are thrown by a later call, or by finish().
    void begin(std::uint32_t location, std::int64_t first_of_all_ns, std::int64_t born_ns)
    {
        carry_out(Begin{location, first_of_all_ns, born_ns});
    }
    void work_until(std::uint32_t location, std::int64_t now_ns, std::uint32_t where)
    {
        carry_out(WorkUntil{location, where, now_ns});
    }
    void idle_until(std::uint32_t location, std::int64_t now_ns, std::uint32_t where)
    {
        carry_out(IdleUntil{location, where, now_ns});
    }
    Arrival arrival(std::uint32_t location, std::int64_t call_ns);
    void wait_for(std::uint32_t location, std::uint32_t where, std::int64_t from_ns, const Arrival& other)
    {
        if (!enabled() || other.location == otf2::nowhere || other.location == location || other.ns <= from_ns) return;
        linked_[location] = true;
        carry_out(WaitFor{location, where, from_ns, other.ns, other.snapshot.get()});
    }
    void polled_for(std::uint32_t location, std::uint32_t where, std::int64_t since_ns, std::int64_t polled_ns,
                    const Arrival& other)
    {
        if (!enabled() || polled_ns == 0 || other.location == otf2::nowhere || other.location == location) return;
        linked_[location] = true;
        carry_out(PolledFor{location, where, since_ns, polled_ns, other.ns, other.snapshot.get()});
    }
    void end_call(std::uint32_t location, std::int64_t now_ns, std::uint32_t where)
    {
        if (!enabled()) return;
        arrivals_[location].reset();
        work_until(location, now_ns, where);
    }
    void synchronise_all(std::uint32_t location, std::int64_t now_ns, std::uint32_t where)
    {
        carry_out(SynchroniseAll{location, where, now_ns});
    }

    // True if the location waited for another location, or handed work to or received work from one.
    bool linked(std::uint32_t location) const { return location < linked_.size() && linked_[location]; }

    // Call only if enabled.
    Handoff hand_off(std::uint32_t location);
    Handoff hand_over(std::uint32_t location);
    void start_task(std::uint32_t location, const Handoff& creator, std::int64_t idle_since_ns, std::uint32_t idle_in)
    {
        if (enabled()) linked_[location] = true;
        carry_out(StartTask{location, idle_in, idle_since_ns, creator.snapshot.get()});
    }
    void join_task(std::uint32_t location, std::int64_t now_ns, std::uint32_t where, const Handoff& done)
    {
        if (enabled()) linked_[location] = true;
        carry_out(JoinTask{location, where, now_ns, done.snapshot.get()});
    }

    // Call after the last event; returns when the analysis is complete.
    void finish();
    // Call after finish().
    PathTimes path_to(std::uint32_t location) const { return analysis_ ? analysis_->path_to(location) : PathTimes{}; }
    DelayCostSums delay_costs(const std::vector<std::int64_t>& waited_ns) const
    {
        return analysis_ ? analysis_->delay_costs(waited_ns) : DelayCostSums{};
    }

 private:
    struct Begin {
        std::uint32_t location;
        std::int64_t first_of_all_ns;
        std::int64_t born_ns;
        void operator()(DelayAnalysis& analysis) const { analysis.begin(location, first_of_all_ns, born_ns); }
    };
    struct WorkUntil {
        std::uint32_t location;
        std::uint32_t where;
        std::int64_t now_ns;
        void operator()(DelayAnalysis& analysis) const { analysis.work_until(location, now_ns, where); }
    };
    struct IdleUntil {
        std::uint32_t location;
        std::uint32_t where;
        std::int64_t now_ns;
        void operator()(DelayAnalysis& analysis) const { analysis.idle_until(location, now_ns, where); }
    };
    struct Arrive {
        std::uint32_t location;
        std::int64_t call_ns;
        ArrivalSnapshot* snapshot;
        ArrivalSnapshot taken(DelayAnalysis& analysis) const { return analysis.arrive(location, call_ns); }
        void operator()(DelayAnalysis& analysis) const { *snapshot = taken(analysis); }
    };
    struct WaitFor {
        std::uint32_t location;
        std::uint32_t where;
        std::int64_t from_ns;
        std::int64_t late_ns;
        const ArrivalSnapshot* late;
        void operator()(DelayAnalysis& analysis) const { analysis.wait_for(location, where, from_ns, *late, late_ns); }
    };
    struct PolledFor {
        std::uint32_t location;
        std::uint32_t where;
        std::int64_t since_ns;
        std::int64_t polled_ns;
        std::int64_t late_ns;
        const ArrivalSnapshot* late;
        void operator()(DelayAnalysis& analysis) const
        {
            analysis.polled_for(location, where, since_ns, polled_ns, *late, late_ns);
        }
    };
    struct SynchroniseAll {
        std::uint32_t location;
        std::uint32_t where;
        std::int64_t now_ns;
        void operator()(DelayAnalysis& analysis) const { analysis.synchronise_all(location, now_ns, where); }
    };
    struct HandOff {
        std::uint32_t location;
        HandoffSnapshot* snapshot;
        bool over = false;
        HandoffSnapshot taken(DelayAnalysis& analysis) const
        {
            return over ? analysis.hand_over(location) : analysis.hand_off(location);
        }
        void operator()(DelayAnalysis& analysis) const { *snapshot = taken(analysis); }
    };
    struct StartTask {
        std::uint32_t location;
        std::uint32_t idle_in;
        std::int64_t idle_since_ns;
        const HandoffSnapshot* creator;
        void operator()(DelayAnalysis& analysis) const
        {
            analysis.start_task(location, *creator, idle_since_ns, idle_in);
        }
    };
    struct JoinTask {
        std::uint32_t location;
        std::uint32_t where;
        std::int64_t now_ns;
        const HandoffSnapshot* done;
        void operator()(DelayAnalysis& analysis) const { analysis.join_task(location, now_ns, where, *done); }
    };
    template <class Snapshot>
    struct Forget {
        Snapshot* snapshot;
        void operator()(DelayAnalysis&) const { *snapshot = {}; }
    };
    using Call = std::variant<Begin, WorkUntil, IdleUntil, Arrive, WaitFor, PolledFor, SynchroniseAll, HandOff,
                              StartTask, JoinTask, Forget<ArrivalSnapshot>, Forget<HandoffSnapshot>>;

    // Snapshots that the analysing thread reads and writes; the caller only tracks which are in use.
    template <class Snapshot>
    class Places {
     public:
        Snapshot* take();
        void give_back(Snapshot* snapshot) noexcept { free_.push_back(snapshot); }  // capacity was reserved for all

     private:
        std::deque<Snapshot> all_;
        std::vector<Snapshot*> free_;
    };

    template <class SomeCall>
    void carry_out(const SomeCall& call)
    {
        if (stage_)
            add(call);
        else if (analysis_)
            call(*analysis_);
    }
    void add(const Call& call)
    {
        constexpr std::size_t calls_at_once = 2048;
        std::vector<Call>& calls = stage_->chunk();
        calls.push_back(call);
        if (calls.size() >= calls_at_once) stage_->pass_on();
    }
    template <class Snapshot, class Take>
    boost::local_shared_ptr<const Snapshot> taken(Take take, Places<Snapshot>& places);

    std::optional<DelayAnalysis> analysis_;
    Places<ArrivalSnapshot> arrival_places_;
    Places<HandoffSnapshot> handoff_places_;
    std::optional<base::Conveyor<std::vector<Call>>> stage_;
    std::vector<bool> linked_;  // by location
    // By location: the snapshot of its current call; null: not needed yet.
    std::vector<boost::local_shared_ptr<const ArrivalSnapshot>> arrivals_;
};

}  // namespace replay
