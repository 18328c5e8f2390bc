// SPDX-License-Identifier: Apache-2.0
// Imbalance on the critical path: activities that take longer there than on an average rank. Source: Scalasca.
#pragma once

#include "trace-tools/replay/mpi_replay.hpp"

#include <map>

namespace replay {

// By activity on the path: the time of its region on the path beyond the region's mean over the ranks, in seconds, at
// least 0. It is divided among locations in proportion to their shares of the region's time on the path.
std::map<PathKey, double> critical_path_imbalance(const CriticalPath& path, const MpiReplay& replay);

}  // namespace replay
