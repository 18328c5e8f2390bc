// SPDX-License-Identifier: Apache-2.0
// Imbalance on the critical path: activities that are longer there than on the average rank. Source: Scalasca.
#pragma once

#include "trace-tools/replay/mpi_replay.hpp"

#include <map>

namespace replay {

// Keyed by activity on the path: seconds that its region has on the path beyond the region's mean over the ranks, at
// least 0. The locations share these as they share the region's time on the path.
std::map<PathKey, double> critical_path_imbalance(const CriticalPath& path, const MpiReplay& replay);

}  // namespace replay
