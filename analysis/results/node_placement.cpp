// SPDX-License-Identifier: Apache-2.0
#include "analysis/results/node_placement.hpp"

#include "analysis/results/record.hpp"
#include "base/error.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace analysis {

namespace {

using Json = nlohmann::ordered_json;

// Limits, because a record may come from anywhere.
constexpr std::size_t most_ranks = 100'000;
constexpr std::size_t most_cpus = 4096;            // CPUs in the list of a rank
constexpr std::size_t most_cpus_of_all = 1 << 18;  // CPUs in the lists of all ranks
constexpr std::size_t longest_list = 4096;         // length of a list in characters

// Number of CPUs that a list names, found without listing them; zero if it is not a list.
std::size_t cpus_named(const std::string& list)
{
    std::size_t named = 0;
    for (const std::string& part : base::split(list, ',')) {
        int first = 0;
        int last = 0;
        if (std::sscanf(part.c_str(), "%5d-%5d", &first, &last) == 2)
            named += static_cast<std::size_t>(std::max(0, last - first));
        ++named;
    }
    return named;
}

std::size_t online_in(const Json& json)
{
    const double online = number_in(json, "cpus_online").value_or(0.0);
    return online >= 1.0 && online <= static_cast<double>(most_cpus) ? static_cast<std::size_t>(online) : 0;
}

}  // namespace

base::CpuSet cpus_in(const Json& json, const char* key)
{
    const std::string list = word(json, key);
    if (list.size() > longest_list || cpus_named(list) > most_cpus) return {};
    try {
        return base::parse_cpus(list);
    } catch (const base::UsageError&) {
        return {};
    }
}

std::map<std::string, std::vector<BoundRank>> bound_ranks(const Report& report)
{
    std::map<std::string, std::vector<BoundRank>> hosts;
    const Record* record = training_record(report);
    if (record == nullptr) return hosts;
    const Json& ranks = list_in(object_in(record->json, "result"), "each_rank");
    std::size_t listed = 0;
    for (std::size_t r = 0; r < std::min(ranks.size(), most_ranks); ++r) {
        base::CpuSet cpus = cpus_in(ranks[r], "cpus");
        listed += cpus.size();
        if (listed > most_cpus_of_all) return {};
        if (!cpus.empty()) hosts[word(ranks[r], "host")].push_back({static_cast<std::int64_t>(r), std::move(cpus)});
    }
    return hosts;
}

std::vector<NodePlaces> node_places(const Report& report)
{
    std::map<std::string, NodePlaces> nodes;
    for (const auto& [host, ranks] : bound_ranks(report)) {
        if (host.empty()) continue;
        for (const BoundRank& rank : ranks) nodes[host].training.insert(rank.cpus.begin(), rank.cpus.end());
    }
    for (const Record& record : report.records) {
        const auto node = nodes.find(word(record.json, "host"));
        if (node == nodes.end()) continue;
        node->second.online = std::max(node->second.online, online_in(record.json));
        if (record.what != "noise") continue;
        const base::CpuSet cpus = cpus_in(record.json, "cpus");
        node->second.noise.insert(cpus.begin(), cpus.end());
    }
    std::vector<NodePlaces> known;
    for (auto& [host, node] : nodes) {
        node.host = host;
        if (!node.noise.empty()) known.push_back(std::move(node));
    }
    return known;
}

}  // namespace analysis
