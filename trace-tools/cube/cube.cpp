// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/cube/cube.hpp"

#include <algorithm>

namespace cube {

namespace {

const CubeRegion artificial_root{.name = "(all)", .paradigm = "unknown", .role = "artificial"};

}  // namespace

const CubeMetric* CubeProfile::find_metric(const std::string& unique_name) const
{
    const auto found =
        std::ranges::find_if(metrics, [&](const CubeMetric& metric) { return metric.unique_name == unique_name; });
    return found == metrics.end() ? nullptr : &*found;
}

std::vector<std::vector<std::size_t>> children_of(const std::vector<CubeCallPath>& call_paths)
{
    std::vector<std::vector<std::size_t>> children(call_paths.size() + 1);
    for (std::size_t i = 0; i < call_paths.size(); ++i)
        children[call_paths[i].parent.value_or(call_paths.size())].push_back(i);
    return children;
}

std::vector<std::size_t> call_paths_by_row(const std::vector<CubeCallPath>& call_paths, CubeMetric::Kind kind)
{
    const std::vector<std::vector<std::size_t>> children = children_of(call_paths);
    std::vector<std::size_t> rows;
    rows.reserve(call_paths.size());
    for (const std::size_t root : children.back()) {
        if (kind == CubeMetric::Kind::inclusive) rows.push_back(root);
        for (std::vector<std::size_t> waiting{root}; !waiting.empty();) {
            const std::size_t one = waiting.back();
            waiting.pop_back();
            if (kind == CubeMetric::Kind::inclusive)
                rows.insert(rows.end(), children[one].begin(), children[one].end());
            else
                rows.push_back(one);
            waiting.insert(waiting.end(), children[one].rbegin(), children[one].rend());
        }
    }
    return rows;
}

void add_artificial_root(CubeProfile& profile)
{
    const std::vector<std::size_t> roots = children_of(profile.call_paths).back();
    profile.regions.push_back(artificial_root);
    profile.call_paths.insert(profile.call_paths.begin(), {.region = profile.regions.size() - 1});
    for (std::size_t i = 1; i < profile.call_paths.size(); ++i) {
        CubeCallPath& path = profile.call_paths[i];
        path.parent = path.parent ? *path.parent + 1 : 0;
    }
    for (CubeMetric& metric : profile.metrics) {
        std::map<std::size_t, std::vector<double>> rows;
        std::vector<double> all(profile.locations.size());
        for (const std::size_t root : roots)
            if (const auto row = metric.rows.find(root); row != metric.rows.end())
                std::transform(all.begin(), all.end(), row->second.begin(), all.begin(), std::plus<>{});
        for (auto& [path, row] : metric.rows) rows.emplace(path + 1, std::move(row));
        if (metric.kind == CubeMetric::Kind::inclusive && !rows.empty()) rows.emplace(0, std::move(all));
        metric.rows = std::move(rows);
    }
}

void give_one_root(CubeProfile& profile)
{
    if (children_of(profile.call_paths).back().size() != 1) add_artificial_root(profile);
}

bool is_artificial_root(const CubeProfile& profile, std::size_t call_path)
{
    const CubeCallPath& path = profile.call_paths[call_path];
    return !path.parent && profile.regions[path.region] == artificial_root;
}

std::vector<std::size_t> put_in_order(CubeProfile& profile)
{
    std::map<std::string, std::size_t> nodes;  // numbered in the order of their first processes
    std::vector<std::vector<std::size_t>> by_node;
    for (std::size_t i = 0; i < profile.processes.size(); ++i) {
        const auto [node, added] = nodes.try_emplace(profile.processes[i].node, by_node.size());
        if (added) by_node.emplace_back();
        by_node[node->second].push_back(i);
    }
    std::vector<std::vector<std::size_t>> by_process(profile.processes.size());
    for (std::size_t i = 0; i < profile.locations.size(); ++i) by_process[profile.locations[i].process].push_back(i);

    std::vector<CubeProcess> processes;
    std::vector<CubeLocation> locations;
    std::vector<std::size_t> places(profile.locations.size());
    for (const std::vector<std::size_t>& node : by_node)
        for (const std::size_t process : node) {
            if (by_process[process].empty()) continue;
            for (const std::size_t location : by_process[process]) {
                places[location] = locations.size();
                locations.push_back(profile.locations[location]);
                locations.back().process = processes.size();
            }
            processes.push_back(profile.processes[process]);
        }
    profile.processes = std::move(processes);
    profile.locations = std::move(locations);
    return places;
}

}  // namespace cube
