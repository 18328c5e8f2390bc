// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/cube/archive_profile.hpp"

#include "base/saturating.hpp"
#include "base/version.hpp"
#include "trace-tools/otf2/ranks.hpp"
#include "trace-tools/otf2/read/fan_out.hpp"
#include "trace-tools/profile/call_path_profile.hpp"
#include "trace-tools/replay/first_pass.hpp"
#include "trace-tools/replay/imbalance.hpp"
#include "trace-tools/replay/mpi_replay.hpp"

#include <algorithm>

namespace cube {

namespace {

double seconds(std::int64_t ns)
{
    return static_cast<double>(ns) / 1e9;
}

// Maps indices of the archive's locations and call tree to those of the profile.
struct Places {
    std::vector<std::optional<std::size_t>> locations;  // none: location left out
    bool artificial_root = false;                       // artificial root above the whole tree

    std::size_t call_path(std::uint32_t where) const
    {
        return where == otf2::nowhere ? 0 : where + (artificial_root ? 1 : 0);
    }
    std::size_t location(std::size_t index) const { return *locations[index]; }
};

std::vector<std::optional<std::size_t>> add_locations(CubeProfile& profile, const otf2::Archive& archive,
                                                      const otf2::CallPathProfile& visits)
{
    const std::vector<std::int64_t> ranks = otf2::ranks_of_locations(archive);
    const auto node_of = [&](std::uint32_t node) {
        return node == otf2::nowhere ? archive.machine : archive.nodes[node].name;
    };
    for (std::size_t i = 0; i < archive.processes.size(); ++i)
        profile.processes.push_back({.name = archive.processes[i].name,
                                     .node = node_of(archive.processes[i].node),
                                     .kind = archive.processes[i].accelerator ? "accelerator" : "process",
                                     .rank = static_cast<std::int64_t>(i)});
    std::vector<std::size_t> taken;  // indices of the archive's locations in the profile
    for (std::size_t i = 0; i < archive.locations.size(); ++i) {
        const otf2::Location& location = archive.locations[i];
        if (location.kind == otf2::LocationKind::metric && visits.by_location()[i].empty()) continue;
        std::size_t process = location.process;
        if (location.process == otf2::nowhere) {
            process = profile.processes.size();
            profile.processes.push_back(
                {.name = location.name, .node = archive.machine, .rank = static_cast<std::int64_t>(process)});
        }
        if (ranks[i] >= 0) profile.processes[process].rank = ranks[i];
        profile.locations.push_back({.name = location.name,
                                     .kind = location.kind == otf2::LocationKind::accelerator_stream ? "gpu" : "thread",
                                     .process = process});
        taken.push_back(i);
    }
    const std::vector<std::size_t> order = put_in_order(profile);
    std::vector<std::optional<std::size_t>> places(archive.locations.size());
    for (std::size_t i = 0; i < taken.size(); ++i) places[taken[i]] = order[i];
    return places;
}

void add_call_paths(CubeProfile& profile, const otf2::Archive& archive, const otf2::CallTree& tree,
                    const Places& places)
{
    if (places.artificial_root) add_artificial_root(profile);
    std::vector<std::optional<std::size_t>> regions(archive.regions.size());  // index in the profile, if visited
    for (const otf2::CallTree::Node& node : tree.nodes()) {
        if (!regions[node.region]) {
            const otf2::Region& region = archive.regions[node.region];
            regions[node.region] = profile.regions.size();
            profile.regions.push_back(
                {.name = region.name, .paradigm = text(region.paradigm), .role = text(region.role)});
        }
        profile.call_paths.push_back({.region = *regions[node.region],
                                      .parent = node.parent == otf2::nowhere && !places.artificial_root
                                                    ? std::nullopt
                                                    : std::optional<std::size_t>{places.call_path(node.parent)}});
    }
}

struct TimeOfLocation {
    std::int64_t whole_ns = 0;    // from the location's first region to its last
    std::int64_t outside_ns = 0;  // the part of whole_ns in no region
};

std::vector<TimeOfLocation> times_of_locations(const otf2::CallTree& tree, const otf2::CallPathProfile& visits,
                                               const std::vector<replay::MpiTimes>& times)
{
    std::vector<TimeOfLocation> all(times.size());
    for (std::size_t location = 0; location < times.size(); ++location) {
        const std::vector<otf2::CallPathVisits>& call_paths = visits.by_location()[location];
        if (call_paths.empty()) continue;
        std::int64_t inside_ns = 0;
        for (std::size_t path = 0; path < call_paths.size(); ++path)
            if (tree.nodes()[path].parent == otf2::nowhere)
                inside_ns = base::saturated_sum(inside_ns, call_paths[path].inclusive_ns.sum);
        const std::int64_t span_ns = base::saturated_difference(times[location].last_ns, times[location].first_ns);
        all[location].whole_ns = std::max(span_ns, inside_ns);
        all[location].outside_ns = base::saturated_difference(all[location].whole_ns, inside_ns);
    }
    return all;
}

bool needs_artificial_root(const otf2::CallTree& tree, const std::vector<TimeOfLocation>& times)
{
    const auto is_root = [](const otf2::CallTree::Node& node) { return node.parent == otf2::nowhere; };
    return std::ranges::count_if(tree.nodes(), is_root) != 1 ||
           std::ranges::any_of(times, [](const TimeOfLocation& one) { return one.outside_ns > 0; });
}

void add(CubeMetric& metric, const CubeProfile& profile, std::size_t call_path, std::size_t location, double value)
{
    std::vector<double>& row = metric.rows[call_path];
    row.resize(profile.locations.size());
    row[location] += value;
}

void add_visits(CubeProfile& profile, const otf2::CallPathProfile& visits, const std::vector<TimeOfLocation>& times,
                const Places& places)
{
    const auto fill = [&](CubeMetric metric, double (*value)(const otf2::CallPathVisits&)) {
        for (std::size_t location = 0; location < visits.by_location().size(); ++location)
            for (std::uint32_t path = 0; path < visits.by_location()[location].size(); ++path)
                if (const otf2::CallPathVisits& one = visits.by_location()[location][path]; one.visits > 0)
                    add(metric, profile, places.call_path(path), places.location(location), value(one));
        profile.metrics.push_back(std::move(metric));
    };
    fill({.unique_name = "visits",
          .display_name = "Visits",
          .unit = "occ",
          .description = "Number of visits",
          .type = CubeMetric::Type::whole},
         [](const otf2::CallPathVisits& one) { return static_cast<double>(one.visits); });
    fill({.unique_name = "time",
          .display_name = "Time",
          .unit = "sec",
          .description = "Total time",
          .kind = CubeMetric::Kind::inclusive},
         [](const otf2::CallPathVisits& one) { return seconds(one.inclusive_ns.sum); });
    if (places.artificial_root)
        for (std::size_t location = 0; location < times.size(); ++location)
            if (times[location].whole_ns > 0)
                add(profile.metrics.back(), profile, 0, places.location(location), seconds(times[location].whole_ns));
    fill({.unique_name = "min_time",
          .display_name = "Minimum Inclusive Time",
          .unit = "sec",
          .description = "Duration of the shortest visit; 0 without visits",
          .type = CubeMetric::Type::least},
         [](const otf2::CallPathVisits& one) { return seconds(one.inclusive_ns.least); });
    fill({.unique_name = "max_time",
          .display_name = "Maximum Inclusive Time",
          .unit = "sec",
          .description = "Duration of the longest visit",
          .type = CubeMetric::Type::most},
         [](const otf2::CallPathVisits& one) { return seconds(one.inclusive_ns.most); });
}

// Waiting times by pattern, call path and location of the archive.
using Waits = std::map<replay::Pattern, std::map<replay::PathKey, std::int64_t>>;

void add_waits(CubeProfile& profile, const Waits& waits, const Places& places)
{
    const auto index_of = [&](const char* name) {
        return static_cast<std::size_t>(profile.find_metric(name) - profile.metrics.data());
    };
    for (const replay::WaitState& one : replay::wait_states) {
        CubeMetric metric{.unique_name = one.cube_name,
                          .display_name = one.title,
                          .unit = "sec",
                          .description = one.description,
                          .parent = index_of(one.part_of)};
        if (const auto found = waits.find(one.pattern); found != waits.end())
            for (const auto& [key, ns] : found->second)
                add(metric, profile, places.call_path(key.where), places.location(key.location), seconds(ns));
        profile.metrics.push_back(std::move(metric));
    }
}

void add_critical_path(CubeProfile& profile, const replay::CriticalPath& path, const replay::MpiReplay& replay,
                       const Places& places)
{
    CubeMetric on_path{.unique_name = "critical_path",
                       .display_name = "Critical path",
                       .unit = "sec",
                       .description = "Time on the critical path, the chain of causes that ends last"};
    CubeMetric imbalance{.unique_name = "critical_path_imbalance",
                         .display_name = "Critical-path imbalance",
                         .unit = "sec",
                         .description = "Time on the critical path beyond the mean over the ranks",
                         .parent = profile.metrics.size()};
    CubeMetric delay{.unique_name = "delay",
                     .display_name = "Delay costs",
                     .unit = "sec",
                     .description = "Waiting time that it caused for others"};
    const auto fill = [&](CubeMetric metric, const auto& values, const auto& in_seconds) {
        for (const auto& [key, value] : values)
            if (value > 0 && places.locations[key.location])
                add(metric, profile, places.call_path(key.where), places.location(key.location), in_seconds(value));
        profile.metrics.push_back(std::move(metric));
    };
    const auto as_it_is = [](double value_s) { return value_s; };
    fill(std::move(on_path), path.ns, seconds);
    fill(std::move(imbalance), replay::critical_path_imbalance(path, replay), as_it_is);
    fill(std::move(delay), path.delay, as_it_is);
    if (path.unknown_delay.empty()) return;
    CubeMetric unknown{.unique_name = "delay_unknown",
                       .display_name = "Waiting without a known cause",
                       .unit = "sec",
                       .description = "Waiting time of a location that no delay explains"};
    fill(std::move(unknown), path.unknown_delay, as_it_is);
}

}  // namespace

ArchiveProfile profile_of(otf2::Reader& reader, int threads)
{
    const otf2::Archive& archive = reader.archive();
    otf2::CallTree tree;
    otf2::CallPathProfile visits{archive, tree};
    Waits waits;
    replay::FirstPass first{reader, {.threads = threads}};
    replay::MpiReplay replay{
        reader.archive(),
        first.take_started(),
        {.critical_path = true, .call_paths = &tree, .threads = threads, .meanwhile = [&] { return first.help(); }},
        [&](const replay::WaitKey& key, const replay::WaitSum& sum) {
            waits[key.pattern][{key.where, key.location}] += sum.ns;
        }};
    otf2::FanOut analyses{&visits, &replay};
    first.replay(analyses);
    visits.finish();
    replay.finish();

    CubeProfile profile;
    profile.machine = archive.machine.empty() ? "machine" : archive.machine;
    profile.attributes = {
        {"Creator", "Crosstalk " + base::version()}, {"Trace written by", archive.writer}, {"CubePL Version", "1.0"}};
    const std::vector<replay::MpiTimes> mpi = replay.times();
    const std::vector<TimeOfLocation> times = times_of_locations(tree, visits, mpi);
    const Places places{.locations = add_locations(profile, archive, visits),
                        .artificial_root = needs_artificial_root(tree, times)};
    add_call_paths(profile, archive, tree, places);
    add_visits(profile, visits, times, places);
    if (std::ranges::any_of(mpi, [](const replay::MpiTimes& one) { return one.mpi_ns > 0; })) {
        add_waits(profile, waits, places);
        if (replay.joined()) add_critical_path(profile, replay.critical_path(), replay, places);
    }
    std::vector<std::string> problems;
    for (const std::vector<std::string>& some : {first.oddities(), visits.problems(), replay.problems()})
        problems.insert(problems.end(), some.begin(), some.end());
    const double tick_s =
        std::max(1e-9, 1.0 / static_cast<double>(std::max<std::uint64_t>(archive.clock.ticks_per_s, 1)));
    return {.profile = std::move(profile), .problems = std::move(problems), .tick_s = tick_s};
}

}  // namespace cube
