#include "trace-tools/patterns/causes.hpp"

#include <algorithm>

namespace otf2 {

// Why a location was late: shares that add up to 1, each place once, in their order.
struct Shares {
    std::vector<std::pair<PathKey, double>> all;
};

struct Past {
    PathSoFar::Point path;
    std::int64_t met_ns = 0;          // when it last met another one
    std::vector<TimeSums::Sum> work;  // since then
    std::shared_ptr<const Shares> inherited;
};

Causes::Causes(std::size_t locations, bool followed)
{
    if (!followed) return;
    tracks_.resize(locations);
    delay_s_.resize(locations);
    for (std::uint32_t location = 0; location < locations; ++location) tracks_[location].path = PathSoFar{location};
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
    if (more.end_ns <= more.begin_ns) return;
    if (track.work.size() > 4096 + 2 * track.work_sums.all().size()) compact(track);
    track.work.push_back(more);
    track.work_sums.add(where, more.end_ns - more.begin_ns);
}

// Bounds memory where locations seldom meet: how long each place took stays, when is forgotten.
void Causes::compact(Track& track)
{
    const std::int64_t begin_ns = track.work.front().begin_ns;
    track.work.clear();
    for (const auto& [where, ns] : track.work_sums.all())
        track.work.push_back({.where = where, .begin_ns = begin_ns, .end_ns = begin_ns + ns});
}

Arrival Causes::arrival(std::uint32_t location, std::int64_t call_ns)
{
    Arrival arrival{.ns = call_ns, .location = location, .past = nullptr};
    if (!followed()) return arrival;
    Track& track = tracks_[location];
    if (!track.past)
        track.past = std::make_shared<const Past>(Past{.path = track.path.here(),
                                                       .met_ns = track.met_ns,
                                                       .work = track.work_sums.all(),
                                                       .inherited = track.inherited});
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
        track.inherited.reset();
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
    track.past.reset();
    if (!track.meets) return;
    track.meets = false;
    track.met_ns = now_ns;
    track.work.clear();
    track.work_sums.clear();
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
    for (const Stretch& stretch : track.work)
        if (stretch.end_ns > past.met_ns)
            waited_.add(stretch.where, stretch.end_ns - std::max(stretch.begin_ns, past.met_ns));

    Shares causes;
    double excess_ns = 0.0;
    for (const auto& [where, ns] : past.work) {
        const auto more = static_cast<double>(ns - waited_.of(where));
        if (more <= 0.0) continue;
        causes.all.push_back({{where, late.location}, more});
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
    track.inherited = std::make_shared<const Shares>(std::move(causes));
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
