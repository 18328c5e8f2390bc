// What makes the critical path long: work that one rank has more of than the others. Source: Scalasca.
#pragma once

#include "trace-tools/replay/mpi_replay.hpp"

#include <map>

namespace otf2 {

// Seconds that each place has on the path beyond its mean over the ranks, 0 at least; shared out over the locations by
// their share in the path. Of what is on the path only.
std::map<PathKey, double> critical_path_imbalance(const CriticalPath& path, const MpiReplay& replay);

}  // namespace otf2
