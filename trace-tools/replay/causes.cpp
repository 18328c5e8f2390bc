#include "trace-tools/replay/causes.hpp"

#include <algorithm>

namespace otf2 {

namespace {

constexpr std::uint32_t everybody = nowhere - 1;  // who meets in MPI_Init

}  // namespace

struct Past {
    PathSoFar::Point path;
    SyncPoints::Point point;
};

struct Handed {
    PathSoFar::Point path;
    Causes::Background background;
};

Causes::Causes(std::size_t locations, bool followed, const Part& part) : part_{part}
{
    if (!followed) return;
    tracks_.resize(locations);
    costs_.resize(locations);
    for (std::uint32_t location = 0; location < locations; ++location) {
        tracks_[location].path = PathSoFar{location};
        tracks_[location].background.worker = location;
    }
}

void Causes::begin(std::uint32_t location, std::int64_t first_of_all_ns)
{
    if (followed()) tracks_[location].known_ns = first_of_all_ns;
}

void Causes::work_until(std::uint32_t location, std::int64_t now_ns, std::uint32_t where)
{
    if (!followed()) return;
    Track& track = tracks_[location];
    const Stretch more{.where = where, .begin_ns = track.known_ns, .end_ns = now_ns};
    track.known_ns = now_ns;
    track.path.add(where, part_.within(location, more.begin_ns, more.end_ns));
    add_work(track, more);
}

void Causes::idle_until(std::uint32_t location, std::int64_t now_ns, std::uint32_t where)
{
    if (!followed()) return;
    Track& track = tracks_[location];
    track.path.add(where, part_.within(location, track.known_ns, now_ns));
    track.known_ns = now_ns;
}

void Causes::add_work(Track& track, const Stretch& more)
{
    if (more.end_ns <= more.begin_ns) return;
    if (track.background.work.size() > 4096 + 2 * track.work_sums.all().size()) compact(track);
    track.background.work.push_back(more);
    track.work_sums.add(more.where, more.end_ns - more.begin_ns);
}

void Causes::set(Track& track, Background background)
{
    track.background = std::move(background);
    track.work_sums.clear();
    for (const Stretch& stretch : track.background.work)
        track.work_sums.add(stretch.where, stretch.end_ns - stretch.begin_ns);
}

// Bounds memory where locations seldom meet: how long each place took stays, when is forgotten.
void Causes::compact(Track& track)
{
    std::vector<Stretch>& work = track.background.work;
    const std::int64_t begin_ns = work.front().begin_ns;
    work.clear();
    for (const auto& [where, ns] : track.work_sums.all())
        work.push_back({.where = where, .begin_ns = begin_ns, .end_ns = begin_ns + ns});
}

void Causes::end_interval(Track& track, SyncPoint point)
{
    point.work = track.work_sums.all();
    point.worker = track.background.worker;
    track.background.points.add(std::move(point));
    track.background.work.clear();
    track.work_sums.clear();
}

Arrival Causes::arrival(std::uint32_t location, std::int64_t call_ns)
{
    Arrival arrival{.ns = call_ns, .location = location, .past = nullptr};
    if (!followed()) return arrival;
    Track& track = tracks_[location];
    if (!track.past) {
        end_interval(track, {.location = location, .ns = std::max(call_ns, track.known_ns)});
        track.past =
            std::make_shared<const Past>(Past{.path = track.path.here(), .point = track.background.points.last()});
    }
    arrival.past = track.past;
    return arrival;
}

void Causes::wait_for(std::uint32_t location, std::uint32_t where, std::int64_t from_ns, const Arrival& other)
{
    if (!followed() || other.location == nowhere || other.location == location) return;
    Track& track = tracks_[location];
    from_ns = std::max(from_ns, track.known_ns);
    if (other.ns <= from_ns) return;
    add_work(track, {.where = where, .begin_ns = track.known_ns, .end_ns = from_ns});
    SyncPoint& met = *other.past->point;
    met.met = true;
    auto why = blame(location, *other.past, part_.within(location, from_ns, other.ns));
    end_interval(
        track,
        {.location = met.location, .ns = met.ns, .waited_ns = other.ns - from_ns, .why = std::move(why), .met = true});
    track.path.go_on_from(other.past->path);
    track.known_ns = other.ns;
}

void Causes::end_call(std::uint32_t location, std::int64_t now_ns, std::uint32_t where)
{
    if (!followed()) return;
    tracks_[location].past.reset();
    work_until(location, now_ns, where);
}

void Causes::meet_all(std::uint32_t location, std::int64_t now_ns, std::uint32_t where)
{
    if (!followed()) return;
    all_met_ns_ = std::min(all_met_ns_, now_ns);
    Track& track = tracks_[location];
    end_interval(track, {.location = everybody, .ns = all_met_ns_, .met = true});
    add_work(track, {.where = where, .begin_ns = all_met_ns_, .end_ns = now_ns});
}

Lead Causes::lead(std::uint32_t location)
{
    Track& track = tracks_[location];
    return {.ns = track.known_ns,
            .location = location,
            .handed = std::make_shared<const Handed>(Handed{track.path.here(), track.background})};
}

void Causes::take_up(std::uint32_t location, const Lead& other, std::optional<std::uint32_t> idle_in)
{
    Track& track = tracks_[location];
    set(track, other.handed->background);
    if (!idle_in) return;
    const Stretch idle{.where = *idle_in, .begin_ns = other.ns, .end_ns = track.known_ns};
    track.path.go_on_from(other.handed->path);
    track.path.add(idle.where, part_.within(location, idle.begin_ns, idle.end_ns));
    add_work(track, idle);
}

void Causes::join(std::uint32_t location, std::int64_t now_ns, std::uint32_t where, const Lead& other)
{
    Track& track = tracks_[location];
    const SyncPoints::Point& met = other.handed->background.points.last();
    if (other.ns > track.known_ns) {
        track.path.go_on_from(other.handed->path);
        track.known_ns = other.ns;
        set(track, other.handed->background);
        track.background.worker = location;
    } else if (met) {
        split(track, *met);  // all tasks done, whoever they met has been met
    }
    work_until(location, now_ns, where);
}

// Its work before and after that.
void Causes::split(Track& track, SyncPoint& met)
{
    const SyncPoints::Point& last = track.background.points.last();
    if (last && met.ns <= last->ns) return;
    Background later = track.background;
    later.work.clear();
    track.work_sums.clear();
    for (Stretch stretch : track.background.work) {
        track.work_sums.add(stretch.where,
                            std::max<std::int64_t>(std::min(stretch.end_ns, met.ns) - stretch.begin_ns, 0));
        stretch.begin_ns = std::max(stretch.begin_ns, met.ns);
        if (stretch.end_ns > stretch.begin_ns) later.work.push_back(stretch);
    }
    met.met = true;
    end_interval(track, {.location = met.location, .ns = met.ns, .met = true});
    later.points = track.background.points;
    set(track, std::move(later));
}

std::shared_ptr<const Shares> Causes::blame(std::uint32_t location, const Past& late, std::int64_t waited_ns)
{
    Track& track = tracks_[location];
    Shares shares = delays_.of(*late.point, track.background.points, track.work_sums, location);
    for (const auto& [key, direct, indirect] : shares.all) {
        if (key.where == unknown_cause) continue;
        std::vector<Cost>& costs = costs_[key.location];
        const std::size_t slot = TimeSums::slot_of(key.where);
        if (slot >= costs.size()) costs.resize(slot + 1);
        const double waited_s = static_cast<double>(waited_ns) / 1e9;
        costs[slot].all_s += (direct + indirect) * waited_s;
        costs[slot].indirect_s += indirect * waited_s;
        track.explained_ns += (direct + indirect) * static_cast<double>(waited_ns);
    }
    return std::make_shared<const Shares>(std::move(shares));
}

PathTimes Causes::path_to(std::uint32_t location) const
{
    return followed() ? tracks_[location].path.times() : PathTimes{};
}

Delay Causes::delay_costs(const std::vector<std::int64_t>& waited_ns) const
{
    constexpr double rounding_ns = 1.0;
    Delay delay;
    for (std::uint32_t location = 0; location < tracks_.size(); ++location) {
        for (std::size_t slot = 0; slot < costs_[location].size(); ++slot) {
            const PathKey key{.where = TimeSums::where_of(slot), .location = location};
            const Cost& cost = costs_[location][slot];
            if (cost.all_s > 0.0) delay.all[key] = cost.all_s;
            if (cost.indirect_s > 0.0) delay.indirect[key] = cost.indirect_s;
        }
        const double unknown_ns = static_cast<double>(waited_ns[location]) - tracks_[location].explained_ns;
        if (unknown_ns > rounding_ns) delay.unknown[{.where = nowhere, .location = location}] = unknown_ns / 1e9;
    }
    return delay;
}

}  // namespace otf2
