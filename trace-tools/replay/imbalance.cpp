// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/replay/imbalance.hpp"

#include <algorithm>

namespace replay {

std::map<PathKey, double> critical_path_imbalance(const CriticalPath& path, const MpiReplay& replay)
{
    const auto ranks = static_cast<double>(std::max<std::size_t>(replay.ranks(), 1));
    std::map<std::uint32_t, double> all_s;  // time of all locations, by TimeSums place
    for (const auto& [key, ns] : replay.exclusive()) all_s[key.where] += static_cast<double>(ns) / 1e9;
    std::map<std::uint32_t, double> path_s;
    for (const auto& [key, ns] : path.ns) path_s[key.where] += static_cast<double>(ns) / 1e9;

    std::map<PathKey, double> imbalance;
    for (const auto& [key, ns] : path.ns) {
        const double on_path = path_s.at(key.where);
        const double mean = all_s[key.where] / ranks;
        const double share = on_path > 0.0 ? static_cast<double>(ns) / 1e9 / on_path : 0.0;
        imbalance[key] = std::max(on_path - mean, 0.0) * share;
    }
    return imbalance;
}

}  // namespace replay
