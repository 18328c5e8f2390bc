// SPDX-License-Identifier: Apache-2.0
// Where training and noise ran on each node, by the records beside the archives.
#pragma once

#include "analysis/results/report.hpp"
#include "base/system/cpus.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace analysis {

// A list of CPUs in a record; empty if there is none, or if it names more than any machine has.
base::CpuSet cpus_in(const nlohmann::ordered_json& json, const char* key);

struct BoundRank {
    std::int64_t rank = 0;
    base::CpuSet cpus;
};

// The ranks of the training by host, those whose CPUs are on record.
std::map<std::string, std::vector<BoundRank>> bound_ranks(const Report& report);

struct NodePlaces {
    std::string host;
    std::size_t online = 0;  // CPUs of the node; 0 if no record says
    base::CpuSet training;
    base::CpuSet noise;
};

// Nodes of which both the training's CPUs and the noise's are on record, by name.
std::vector<NodePlaces> node_places(const Report& report);

}  // namespace analysis
