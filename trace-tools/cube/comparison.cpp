// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/cube/comparison.hpp"

#include "base/error.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>

namespace cube {

namespace {

using Row = std::vector<double>;
using Rows = std::map<std::size_t, Row>;

// Positions of a profile's call paths and locations in the union of both profiles.
struct PlacesInUnion {
    std::vector<std::optional<std::size_t>> call_paths;  // none: an artificial root that was left out
    std::vector<std::size_t> locations;
};

class Union {
 public:
    enum class ArtificialRoot { kept, left_out };

    Union(const CubeProfile& first, const CubeProfile& second, ArtificialRoot root)
        : root_{root}, places_{place(first), place(second)}
    {
        const std::vector<std::size_t> order = put_in_order(shape_);
        for (PlacesInUnion& places : places_)
            for (std::size_t& location : places.locations) location = order[location];
    }

    const CubeProfile& shape() const { return shape_; }
    const PlacesInUnion& first() const { return places_[0]; }
    const PlacesInUnion& second() const { return places_[1]; }

    Rows moved(const Rows& rows, const PlacesInUnion& places) const
    {
        Rows moved;
        for (const auto& [path, row] : rows) {
            if (!places.call_paths[path]) continue;
            Row& to = moved[*places.call_paths[path]];
            to.resize(shape_.locations.size());
            for (std::size_t i = 0; i < row.size(); ++i) to[places.locations[i]] = row[i];
        }
        return moved;
    }

 private:
    PlacesInUnion place(const CubeProfile& profile)
    {
        if (shape_.machine.empty()) shape_.machine = profile.machine;
        PlacesInUnion places;
        for (std::size_t i = 0; i < profile.call_paths.size(); ++i)
            places.call_paths.push_back(call_path(profile, i, places));
        std::map<std::tuple<std::size_t, std::string>, std::size_t> namesakes;
        for (const CubeLocation& location : profile.locations) {
            const std::size_t process = process_of(profile.processes[location.process]);
            const std::size_t number = namesakes[{process, location.name}]++;
            const auto [found, added] =
                locations_.try_emplace({process, location.name, number}, shape_.locations.size());
            if (added) shape_.locations.push_back({.name = location.name, .kind = location.kind, .process = process});
            places.locations.push_back(found->second);
        }
        return places;
    }

    std::optional<std::size_t> call_path(const CubeProfile& profile, std::size_t path, const PlacesInUnion& places)
    {
        if (root_ == ArtificialRoot::left_out && is_artificial_root(profile, path)) return std::nullopt;
        const CubeRegion& region = profile.regions[profile.call_paths[path].region];
        const auto [number, new_region] = regions_.try_emplace(base::printable(region.name), shape_.regions.size());
        if (new_region) shape_.regions.push_back(region);
        const std::optional<std::size_t> above = profile.call_paths[path].parent;
        const std::optional<std::size_t> parent = above ? places.call_paths[*above] : std::nullopt;
        const auto [found, added] = call_paths_.try_emplace({parent, number->second}, shape_.call_paths.size());
        if (added) shape_.call_paths.push_back({.region = number->second, .parent = parent});
        return found->second;
    }

    std::size_t process_of(const CubeProcess& process)
    {
        const auto [found, added] = processes_.try_emplace({process.kind, process.rank}, shape_.processes.size());
        if (added) shape_.processes.push_back(process);
        return found->second;
    }

    ArtificialRoot root_;
    CubeProfile shape_;
    std::map<std::string, std::size_t> regions_;
    std::map<std::pair<std::optional<std::size_t>, std::size_t>, std::size_t> call_paths_;
    std::map<std::pair<std::string, std::int64_t>, std::size_t> processes_;
    std::map<std::tuple<std::size_t, std::string, std::size_t>, std::size_t> locations_;
    std::array<PlacesInUnion, 2> places_;
};

// Computes later - earlier.
Rows difference(const Rows& later, const Rows& earlier)
{
    Rows rows = later;
    for (const auto& [path, row] : earlier) {
        Row& to = rows[path];
        to.resize(row.size());
        std::transform(to.begin(), to.end(), row.begin(), to.begin(), std::minus<>{});
    }
    return rows;
}

bool adds_up(const CubeMetric& metric)
{
    return metric.type != CubeMetric::Type::least && metric.type != CubeMetric::Type::most;
}

class Prefixed {
 public:
    Prefixed(CubeProfile& profile, std::string name, std::string title)
        : profile_{profile}, name_{std::move(name)}, title_{std::move(title)}
    {
    }

    // Adds a copy of `metric`, which belongs to profile `from`.
    void add(const CubeMetric& metric, const CubeProfile& from, Rows rows)
    {
        CubeMetric copy = metric;
        copy.unique_name = name_ + "_" + metric.unique_name;
        copy.display_name = metric.display_name + ", " + title_;
        copy.parent.reset();
        if (metric.parent)
            if (const auto above = added_.find(from.metrics[*metric.parent].unique_name); above != added_.end())
                copy.parent = above->second;
        copy.rows = std::move(rows);
        if (name_ == "difference" && copy.type == CubeMetric::Type::whole) copy.type = CubeMetric::Type::signed_whole;
        added_.emplace(metric.unique_name, profile_.metrics.size());
        profile_.metrics.push_back(std::move(copy));
    }

 private:
    CubeProfile& profile_;
    std::string name_;
    std::string title_;
    std::map<std::string, std::size_t> added_;
};

template <class Key>
InBoth in_both(const std::set<Key>& first, const std::set<Key>& second)
{
    InBoth found;
    for (const Key& one : first) ++(second.contains(one) ? found.both : found.first);
    found.second = second.size() - found.both;
    return found;
}

bool has_artificial_root(const CubeProfile& profile)
{
    for (std::size_t path = 0; path < profile.call_paths.size(); ++path)
        if (is_artificial_root(profile, path)) return true;
    return false;
}

}  // namespace

InBoth call_paths_in_both(const CubeProfile& first, const CubeProfile& second)
{
    const Union both{first, second, Union::ArtificialRoot::left_out};
    const auto all = [](const PlacesInUnion& places) {
        std::set<std::size_t> paths;
        for (const std::optional<std::size_t>& path : places.call_paths)
            if (path) paths.insert(*path);
        return paths;
    };
    return in_both(all(both.first()), all(both.second()));
}

CubeProfile compared(CubeProfile quiet, CubeProfile noisy, bool derived)
{
    if (const bool quiet_has = has_artificial_root(quiet); quiet_has != has_artificial_root(noisy))
        add_artificial_root(quiet_has ? noisy : quiet);
    const Union both{quiet, noisy, Union::ArtificialRoot::kept};
    CubeProfile profile = both.shape();
    profile.attributes = quiet.attributes;
    Prefixed quiet_metrics{profile, "quiet", "quiet run"};
    Prefixed noisy_metrics{profile, "noisy", "noisy run"};
    Prefixed differences{profile, "difference", "noisy - quiet"};
    const auto add = [&](const CubeMetric& metric, const CubeProfile& from) {
        const auto rows_of = [&](const CubeProfile& run, const PlacesInUnion& places) {
            const CubeMetric* const found = run.find_metric(metric.unique_name);
            return found == nullptr ? Rows{} : both.moved(found->rows, places);
        };
        Rows before = rows_of(quiet, both.first());
        Rows after = rows_of(noisy, both.second());
        if (adds_up(metric)) differences.add(metric, from, difference(after, before));
        quiet_metrics.add(metric, from, std::move(before));
        noisy_metrics.add(metric, from, std::move(after));
    };
    for (const CubeMetric& metric : quiet.metrics) add(metric, quiet);
    for (const CubeMetric& metric : noisy.metrics)
        if (quiet.find_metric(metric.unique_name) == nullptr) add(metric, noisy);
    if (derived)
        profile.metrics.push_back({.unique_name = "slowdown",
                                   .display_name = "Slowdown",
                                   .unit = "",
                                   .description = "Time in the noisy run / time in the quiet run",
                                   .kind = CubeMetric::Kind::derived,
                                   .expression = "metric::noisy_time()/metric::quiet_time()"});
    return profile;
}

namespace {

Rows exclusive_rows(const CubeProfile& profile, const std::string& name)
{
    const CubeMetric* const metric = profile.find_metric(name);
    if (metric == nullptr) base::fail("the profile has no metric '", name, "'");
    Rows rows = metric->rows;
    if (metric->kind != CubeMetric::Kind::inclusive) return rows;
    for (const auto& [path, row] : metric->rows) {
        const std::optional<std::size_t> parent = profile.call_paths[path].parent;
        if (!parent) continue;
        Row& above = rows[*parent];
        above.resize(row.size());
        std::transform(above.begin(), above.end(), row.begin(), above.begin(), std::minus<>{});
    }
    return rows;
}

Rows by_region(const Rows& rows, const CubeProfile& shape)
{
    Rows sums;
    for (const auto& [path, row] : rows) {
        Row& sum = sums[shape.call_paths[path].region];
        sum.resize(row.size());
        std::transform(sum.begin(), sum.end(), row.begin(), sum.begin(), std::plus<>{});
    }
    return sums;
}

// `name` returns the name of a row.
template <class Name>
void compare(Apart& apart, const Rows& first, const Rows& second, const Rows& allowed, const CubeProfile& shape,
             const Name& name)
{
    const Row zeros(shape.locations.size());
    std::set<std::size_t> all;
    for (const Rows* rows : {&first, &second})
        for (const auto& [key, row] : *rows) all.insert(key);
    for (const std::size_t key : all) {
        const auto a = first.find(key);
        const auto b = second.find(key);
        for (std::size_t i = 0; i < zeros.size(); ++i) {
            const double one = a == first.end() ? 0.0 : a->second[i];
            const double other = b == second.end() ? 0.0 : b->second[i];
            const auto some = allowed.find(key);
            if (std::abs(one - other) <= (some == allowed.end() ? 0.0 : some->second[i])) continue;
            const double relative = std::abs(one - other) / std::max(std::abs(one), std::abs(other));
            if (relative <= apart.most) continue;
            const CubeLocation& location = shape.locations[i];
            apart = {
                .most = relative,
                .where = base::join(name(key), " on ", shape.processes[location.process].name, ", ", location.name)};
        }
    }
}

std::set<std::size_t> visited(const Rows& rows)
{
    std::set<std::size_t> keys;
    for (const auto& [key, row] : rows)
        if (std::ranges::any_of(row, [](double value) { return value != 0.0; })) keys.insert(key);
    return keys;
}

}  // namespace

namespace {

// The error allowed for times: one tick for each visit of a call path, and one for each visit directly inside it.
Rows ticks_of(const Rows& visits, const CubeProfile& shape, double tick_s)
{
    Rows ticks;
    const auto add = [&](std::size_t path, const Row& row) {
        Row& sum = ticks[path];
        sum.resize(row.size());
        for (std::size_t i = 0; i < row.size(); ++i) sum[i] += row[i] * tick_s;
    };
    for (const auto& [path, row] : visits) {
        add(path, row);
        if (const auto parent = shape.call_paths[path].parent) add(*parent, row);
    }
    return ticks;
}

}  // namespace

Agreement agreement(const CubeProfile& first, const CubeProfile& second, double tick_s)
{
    const Union both{first, second, Union::ArtificialRoot::left_out};
    const CubeProfile& shape = both.shape();
    const auto region_name = [&](std::size_t region) { return shape.regions[region].name; };
    const auto path_name = [&](std::size_t path) { return region_name(shape.call_paths[path].region); };
    const Rows visits = both.moved(exclusive_rows(first, "visits"), both.first());
    const Rows other_visits = both.moved(exclusive_rows(second, "visits"), both.second());
    const Rows time = both.moved(exclusive_rows(first, "time"), both.first());
    const Rows other_time = both.moved(exclusive_rows(second, "time"), both.second());
    const Rows region_visits = by_region(visits, shape);
    const Rows other_region_visits = by_region(other_visits, shape);

    Agreement found{
        .call_paths = in_both(visited(visits), visited(other_visits)),
        .regions = in_both(visited(region_visits), visited(other_region_visits)),
        .locations = in_both(std::set<std::size_t>{both.first().locations.begin(), both.first().locations.end()},
                             std::set<std::size_t>{both.second().locations.begin(), both.second().locations.end()})};
    constexpr double rounding = 1.01;  // allows for rounding of seconds in binary
    const Rows ticks = ticks_of(visits, shape, tick_s * rounding);
    compare(found.visits, region_visits, other_region_visits, {}, shape, region_name);
    compare(found.time, by_region(time, shape), by_region(other_time, shape), by_region(ticks, shape), shape,
            region_name);
    if (found.call_paths.first == 0 && found.call_paths.second == 0) {
        compare(found.visits, visits, other_visits, {}, shape, path_name);
        compare(found.time, time, other_time, ticks, shape, path_name);
    }
    return found;
}

}  // namespace cube
