#include "trace-tools/patterns/causes.hpp"

#include <algorithm>

namespace otf2 {

// Why a location was late: shares that add up to 1, each place once, in their order.
struct Shares {
    std::vector<std::pair<PathKey, double>> all;
};

struct Past {
    PathSoFar::Point path;
    std::int64_t met_ns = 0;  // when it last met another one
    std::uint32_t worker = nowhere;
    std::vector<TimeSums::Sum> work;  // since then
    std::shared_ptr<const Shares> inherited;
};

struct Handed {
    PathSoFar::Point path;
    Causes::Background background;
    std::int64_t called_ns = 0;  // when it was last in an MPI call
};

Causes::Causes(std::size_t locations, bool followed)
{
    if (!followed) return;
    tracks_.resize(locations);
    delay_s_.resize(locations);
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
    track.path.add(where, more.end_ns - more.begin_ns);
    add_work(track, more);
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

Arrival Causes::arrival(std::uint32_t location, std::int64_t call_ns)
{
    Arrival arrival{.ns = call_ns, .location = location, .past = nullptr};
    if (!followed()) return arrival;
    Track& track = tracks_[location];
    if (!track.past)
        track.past = std::make_shared<const Past>(Past{.path = track.path.here(),
                                                       .met_ns = track.background.met_ns,
                                                       .worker = track.background.worker,
                                                       .work = track.work_sums.all(),
                                                       .inherited = track.background.inherited});
    arrival.past = track.past;
    return arrival;
}

void Causes::meet(std::uint32_t location)
{
    if (followed()) tracks_[location].meets = true;
}

void Causes::wait_for(std::uint32_t location, std::int64_t call_ns, const Arrival& other)
{
    if (!followed()) return;
    Track& track = tracks_[location];
    track.meets = true;
    if (other.location == nowhere) return;
    const std::int64_t waited_ns = other.ns - call_ns;
    track.past.reset();
    if (other.location == location || waited_ns <= 0) {
        track.background.inherited.reset();
        return;
    }
    blame(location, other, static_cast<double>(waited_ns));
    if (other.ns <= track.known_ns) return;
    track.path.go_on_from(other.past->path);
    track.known_ns = other.ns;
}

void Causes::end_call(std::uint32_t location, std::int64_t now_ns, std::uint32_t where)
{
    if (!followed()) return;
    Track& track = tracks_[location];
    track.path.add(where, now_ns - track.known_ns);
    track.known_ns = now_ns;
    track.called_ns = now_ns;
    track.past.reset();
    if (!track.meets) return;
    track.meets = false;
    track.background.met_ns = now_ns;
    track.background.worker = location;
    track.background.work.clear();
    track.work_sums.clear();
}

Causes::Background Causes::since(const Background& background, std::int64_t met_ns)
{
    Background later{.met_ns = met_ns, .worker = background.worker, .work = {}, .inherited = background.inherited};
    for (Stretch stretch : background.work) {
        stretch.begin_ns = std::max(stretch.begin_ns, met_ns);
        if (stretch.end_ns > stretch.begin_ns) later.work.push_back(stretch);
    }
    return later;
}

Lead Causes::lead(std::uint32_t location)
{
    Track& track = tracks_[location];
    return {.ns = track.known_ns,
            .location = location,
            .handed = std::make_shared<const Handed>(Handed{track.path.here(), track.background, track.called_ns})};
}

void Causes::take_up(std::uint32_t location, const Lead& other, std::optional<std::uint32_t> idle_in)
{
    Track& track = tracks_[location];
    set(track, other.handed->background);
    if (!idle_in) return;
    const Stretch idle{.where = *idle_in, .begin_ns = other.ns, .end_ns = track.known_ns};
    track.path.go_on_from(other.handed->path);
    track.path.add(idle.where, idle.end_ns - idle.begin_ns);
    add_work(track, idle);
}

void Causes::join(std::uint32_t location, std::int64_t now_ns, std::uint32_t where, const Lead& other)
{
    Track& track = tracks_[location];
    const Background& others = other.handed->background;
    const bool waited = other.ns > track.known_ns;
    if (waited) {
        track.path.go_on_from(other.handed->path);
        track.known_ns = other.ns;
    }
    // All tasks done, whoever they spoke to has been met.
    const std::int64_t met_ns = std::max(others.met_ns, other.handed->called_ns);
    if (waited || met_ns > track.background.met_ns) {
        Background own = since(waited ? others : track.background, met_ns);
        own.worker = location;
        if (!waited || met_ns > others.met_ns) own.inherited.reset();
        set(track, std::move(own));
    }
    work_until(location, now_ns, where);
}

namespace {

void sum_up(std::vector<std::pair<PathKey, double>>& shares)
{
    constexpr double negligible = 1e-9;  // of a wait; bounds what is handed on along a long chain
    std::sort(shares.begin(), shares.end(), [](const auto& one, const auto& other) { return one.first < other.first; });
    std::size_t sums = 0;
    for (std::size_t i = 0; i < shares.size();) {
        auto sum = shares[i];
        for (++i; i < shares.size() && shares[i].first == sum.first; ++i) sum.second += shares[i].second;
        if (sum.second > negligible) shares[sums++] = sum;
    }
    shares.resize(sums);
}

}  // namespace

// What the late one did longer, since it last met another, than the one that waited; beyond that, what had made it
// late then.
void Causes::blame(std::uint32_t location, const Arrival& late, double waited_ns)
{
    Track& track = tracks_[location];
    const Past& past = *late.past;
    waited_.clear();
    for (const Stretch& stretch : track.background.work)
        if (stretch.end_ns > past.met_ns)
            waited_.add(stretch.where, stretch.end_ns - std::max(stretch.begin_ns, past.met_ns));

    Shares causes;
    double excess_ns = 0.0;
    for (const auto& [where, ns] : past.work) {
        const auto more = static_cast<double>(ns - waited_.of(where));
        if (more <= 0.0) continue;
        causes.all.push_back({{where, past.worker}, more});
        excess_ns += more;
    }
    const double direct = std::min(waited_ns, excess_ns) / waited_ns;
    for (auto& [key, share] : causes.all) share *= direct / excess_ns;
    if (past.inherited && direct < 1.0)
        for (const auto& [key, share] : past.inherited->all) causes.all.push_back({key, (1.0 - direct) * share});
    sum_up(causes.all);
    for (const auto& [key, share] : causes.all) {
        std::vector<double>& delay_s = delay_s_[key.location];
        const std::size_t slot = TimeSums::slot_of(key.where);
        if (slot >= delay_s.size()) delay_s.resize(slot + 1);
        delay_s[slot] += share * waited_ns / 1e9;
    }
    track.background.inherited = std::make_shared<const Shares>(std::move(causes));
}

PathTimes Causes::path_to(std::uint32_t location) const
{
    return followed() ? tracks_[location].path.times() : PathTimes{};
}

DelayCosts Causes::delay_costs() const
{
    DelayCosts costs;
    for (std::uint32_t location = 0; location < delay_s_.size(); ++location)
        for (std::size_t slot = 0; slot < delay_s_[location].size(); ++slot)
            if (delay_s_[location][slot] > 0.0) costs[{TimeSums::where_of(slot), location}] = delay_s_[location][slot];
    return costs;
}

}  // namespace otf2
