// SPDX-License-Identifier: Apache-2.0
// Where training and noise ran on each node, from their records.
#pragma once

#include "analysis/results/report.hpp"
#include "base/system/cpus.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace analysis {

// A list of CPUs in a record; empty if it is missing, or names more CPUs than any machine has.
base::CpuSet cpus_in(const nlohmann::ordered_json& json, const char* key);

struct BoundRank {
    std::int64_t rank = 0;
    base::CpuSet cpus;
};

// By host: ranks of the training whose CPUs are recorded.
std::map<std::string, std::vector<BoundRank>> bound_ranks(const Report& report);

struct NodePlaces {
    std::string host;
    std::size_t online = 0;  // number of the node's CPUs; 0 if not recorded
    base::CpuSet training;
    base::CpuSet noise;
};

// By name: nodes for which the CPUs of both training and noise are recorded.
std::vector<NodePlaces> node_places(const Report& report);

}  // namespace analysis
