// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/replay/critical_path/delay_analysis.hpp"

#include <boost/smart_ptr/make_local_shared.hpp>

#include <algorithm>

namespace replay {

namespace {

constexpr std::uint32_t all_locations = otf2::nowhere - 1;  // all locations, which synchronise in MPI_Init

}  // namespace

DelayAnalysis::DelayAnalysis(std::size_t locations, const otf2::Part& part)
    : part_{part}, locations_(locations), costs_(locations)
{
    for (std::uint32_t location = 0; location < locations; ++location) {
        locations_[location].path = CriticalPathChain{location};
        locations_[location].context.worker = location;
    }
}

void DelayAnalysis::begin(std::uint32_t location, std::int64_t first_of_all_ns, std::int64_t born_ns)
{
    constexpr std::int64_t together_ns = 1'000'000;  // threads born within this time count as born together
    constexpr std::size_t most_births = 1024;        // limit, as each birth splits an interval of every location
    LocationAnalysis& own = locations_[location];
    own.known_ns = first_of_all_ns;
    if (born_ns <= first_of_all_ns) return;
    own.path.add(otf2::nowhere, part_.within(location, first_of_all_ns, born_ns));
    own.known_ns = born_ns;
    if (births_.empty() || (born_ns - births_.back() >= together_ns && births_.size() < most_births))
        births_.push_back(born_ns);
    own.born_ns = births_.back();
    own.births = births_.size();
}

void DelayAnalysis::work_until(std::uint32_t location, std::int64_t now_ns, std::uint32_t where)
{
    LocationAnalysis& own = locations_[location];
    const Activity activity{.where = where, .begin_ns = own.known_ns, .end_ns = now_ns};
    own.known_ns = now_ns;
    own.path.add(where, part_.within(location, activity.begin_ns, activity.end_ns));
    add_work(own, activity);
}

void DelayAnalysis::idle_until(std::uint32_t location, std::int64_t now_ns, std::uint32_t where)
{
    LocationAnalysis& own = locations_[location];
    own.path.add(where, part_.within(location, own.known_ns, now_ns));
    own.known_ns = now_ns;
}

// Splits the activity at the birth of each thread.
void DelayAnalysis::add_work(LocationAnalysis& own, Activity activity)
{
    for (; own.births < births_.size() && births_[own.births] <= activity.end_ns; ++own.births) {
        const std::int64_t at_ns = births_[own.births];
        const SyncIntervals::Pointer& last = own.context.intervals.last();
        if (last && last->end_ns >= at_ns) continue;
        if (at_ns > activity.begin_ns) {
            add_part(own, {.where = activity.where, .begin_ns = activity.begin_ns, .end_ns = at_ns});
            activity.begin_ns = at_ns;
        }
        end_interval(own, {.location = own.context.worker, .end_ns = at_ns});
    }
    add_part(own, activity);
}

void DelayAnalysis::add_part(LocationAnalysis& own, const Activity& activity)
{
    if (activity.end_ns <= activity.begin_ns) return;
    if (own.context.work.size() > 4096 + 2 * own.work_sums.all().size()) compact(own);
    own.context.work.push_back(activity);
    own.work_sums.add(activity.where, activity.end_ns - activity.begin_ns);
}

void DelayAnalysis::set_context(LocationAnalysis& own, DelayContext context)
{
    own.context = std::move(context);
    own.born_ns = INT64_MIN;
    own.work_sums.clear();
    for (const Activity& activity : own.context.work)
        own.work_sums.add(activity.where, activity.end_ns - activity.begin_ns);
}

// Bounds memory if locations rarely synchronise: keeps the duration of each activity, but drops when it happened.
void DelayAnalysis::compact(LocationAnalysis& own)
{
    std::vector<Activity>& work = own.context.work;
    const std::int64_t begin_ns = work.front().begin_ns;
    work.clear();
    for (const auto& [where, ns] : own.work_sums.all())
        work.push_back({.where = where, .begin_ns = begin_ns, .end_ns = begin_ns + ns});
}

void DelayAnalysis::end_interval(LocationAnalysis& own, SyncInterval interval)
{
    interval.work.assign(own.work_sums.all().begin(), own.work_sums.all().end());
    interval.worker = own.context.worker;
    own.context.intervals.add(std::move(interval));
    own.context.work.clear();
    own.work_sums.clear();
}

ArrivalSnapshot DelayAnalysis::arrive(std::uint32_t location, std::int64_t call_ns)
{
    LocationAnalysis& own = locations_[location];
    end_interval(own, {.location = location, .end_ns = std::max(call_ns, own.known_ns)});
    return {.path = own.path.position(), .interval = own.context.intervals.last()};
}

void DelayAnalysis::wait_for(std::uint32_t location, std::uint32_t where, std::int64_t from_ns,
                             const ArrivalSnapshot& late, std::int64_t late_ns)
{
    LocationAnalysis& own = locations_[location];
    from_ns = std::max(from_ns, own.known_ns);
    if (late_ns <= from_ns) return;
    add_work(own, {.where = where, .begin_ns = own.known_ns, .end_ns = from_ns});
    end_wait(location, late, part_.within(location, from_ns, late_ns), late_ns - from_ns);
    own.path.continue_from(late.path);
    own.known_ns = late_ns;
}

void DelayAnalysis::polled_for(std::uint32_t location, std::uint32_t where, std::int64_t since_ns,
                               std::int64_t polled_ns, const ArrivalSnapshot& late, std::int64_t late_ns)
{
    LocationAnalysis& own = locations_[location];
    end_wait(location, late, polled_ns, polled_ns);
    const std::int64_t until_ns = std::min(late_ns, own.known_ns);
    if (until_ns <= since_ns || 2 * polled_ns < until_ns - since_ns) return;
    own.path.continue_from(late.path);
    if (late_ns > own.known_ns)
        own.known_ns = late_ns;
    else
        own.path.add(where, part_.within(location, late_ns, own.known_ns));
}

void DelayAnalysis::end_wait(std::uint32_t location, const ArrivalSnapshot& late, std::int64_t part_ns,
                             std::int64_t waited_ns)
{
    SyncInterval& synchronisation = *late.interval;
    synchronisation.shared = true;
    auto delays = add_delay_costs(location, late, part_ns);
    end_interval(locations_[location], {.location = synchronisation.location,
                                        .end_ns = synchronisation.end_ns,
                                        .waited_ns = waited_ns,
                                        .delays = std::move(delays),
                                        .shared = true});
}

void DelayAnalysis::synchronise_all(std::uint32_t location, std::int64_t now_ns, std::uint32_t where)
{
    first_init_ns_ = std::min(first_init_ns_, now_ns);
    LocationAnalysis& own = locations_[location];
    end_interval(own, {.location = all_locations, .end_ns = first_init_ns_, .shared = true});
    add_work(own, {.where = where, .begin_ns = first_init_ns_, .end_ns = now_ns});
}

HandoffSnapshot DelayAnalysis::hand_off(std::uint32_t location)
{
    LocationAnalysis& own = locations_[location];
    return {.ns = own.known_ns, .path = own.path.position(), .context = own.context};
}

HandoffSnapshot DelayAnalysis::hand_over(std::uint32_t location)
{
    LocationAnalysis& own = locations_[location];
    end_interval(own, {.location = location, .end_ns = own.known_ns});
    return hand_off(location);
}

void DelayAnalysis::start_task(std::uint32_t location, const HandoffSnapshot& creator, std::int64_t idle_since_ns,
                               std::uint32_t idle_in)
{
    LocationAnalysis& own = locations_[location];
    set_context(own, creator.context);
    if (creator.ns <= idle_since_ns) return;
    const Activity idle{.where = idle_in, .begin_ns = creator.ns, .end_ns = own.known_ns};
    own.path.continue_from(creator.path);
    own.path.add(idle.where, part_.within(location, idle.begin_ns, idle.end_ns));
    add_work(own, idle);
}

void DelayAnalysis::join_task(std::uint32_t location, std::int64_t now_ns, std::uint32_t where,
                              const HandoffSnapshot& done)
{
    LocationAnalysis& own = locations_[location];
    const SyncIntervals::Pointer& synchronisation = done.context.intervals.last();
    if (done.ns > own.known_ns) {
        own.path.continue_from(done.path);
        own.known_ns = done.ns;
        set_context(own, done.context);
        own.context.worker = location;
    } else if (synchronisation) {
        split_interval(own, *synchronisation);  // a synchronisation by tasks also concerns the thread that joins them
    }
    work_until(location, now_ns, where);
}

// Splits the work since the last interval at the time of the synchronisation.
void DelayAnalysis::split_interval(LocationAnalysis& own, SyncInterval& synchronisation)
{
    const SyncIntervals::Pointer& last = own.context.intervals.last();
    if (last && synchronisation.end_ns <= last->end_ns) return;
    DelayContext later = own.context;
    later.work.clear();
    own.work_sums.clear();
    for (Activity activity : own.context.work) {
        own.work_sums.add(
            activity.where,
            std::max<std::int64_t>(std::min(activity.end_ns, synchronisation.end_ns) - activity.begin_ns, 0));
        activity.begin_ns = std::max(activity.begin_ns, synchronisation.end_ns);
        if (activity.end_ns > activity.begin_ns) later.work.push_back(activity);
    }
    synchronisation.shared = true;
    end_interval(own, {.location = synchronisation.location, .end_ns = synchronisation.end_ns, .shared = true});
    later.intervals = own.context.intervals;
    set_context(own, std::move(later));
}

boost::local_shared_ptr<const DelayShares> DelayAnalysis::add_delay_costs(std::uint32_t location,
                                                                          const ArrivalSnapshot& late,
                                                                          std::int64_t waited_ns)
{
    LocationAnalysis& own = locations_[location];
    const std::uint32_t other = late.interval->location;
    const std::int64_t since_ns =
        std::max(own.born_ns, other < locations_.size() ? locations_[other].born_ns : INT64_MIN);
    DelayShares shares = detector_.shares(*late.interval, own.context.intervals, own.work_sums, location, since_ns);
    for (const auto& [key, direct, indirect] : shares.all) {
        if (key.where == unknown_cause) continue;
        std::vector<Cost>& costs = costs_[key.location];
        const std::size_t slot = otf2::TimeSums::slot_of(key.where);
        if (slot >= costs.size()) costs.resize(slot + 1);
        const double waited_s = static_cast<double>(waited_ns) / 1e9;
        costs[slot].all_s += (direct + indirect) * waited_s;
        costs[slot].indirect_s += indirect * waited_s;
        own.explained_ns += (direct + indirect) * static_cast<double>(waited_ns);
    }
    return boost::allocate_local_shared<const DelayShares>(Recycled<DelayShares>{}, std::move(shares));
}

PathTimes DelayAnalysis::path_to(std::uint32_t location) const
{
    return locations_[location].path.times();
}

DelayCostSums DelayAnalysis::delay_costs(const std::vector<std::int64_t>& waited_ns) const
{
    constexpr double rounding_ns = 1.0;
    DelayCostSums costs;
    for (std::uint32_t location = 0; location < locations_.size(); ++location) {
        for (std::size_t slot = 0; slot < costs_[location].size(); ++slot) {
            const PathKey key{.where = otf2::TimeSums::where_of(slot), .location = location};
            const Cost& cost = costs_[location][slot];
            if (cost.all_s > 0.0) costs.all[key] = cost.all_s;
            if (cost.indirect_s > 0.0) costs.indirect[key] = cost.indirect_s;
        }
        const double unknown_ns = static_cast<double>(waited_ns[location]) - locations_[location].explained_ns;
        if (unknown_ns > rounding_ns) costs.unknown[{.where = otf2::nowhere, .location = location}] = unknown_ns / 1e9;
    }
    return costs;
}

}  // namespace replay
