// SPDX-License-Identifier: Apache-2.0
// Rates given as a share of what a stressor reaches on this node.
#pragma once

#include "noisegen/resources/node_limits.hpp"
#include "noisegen/schedule/schedule.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace noisegen {

// The share of the rate that the stressor reached on this number of CPUs in its worst round: bytes if it counts them,
// else operations. Throws UsageError with the calibration command if that rate is not known.
base::Rate resolve(const NodeLimits& limits, const Configured& stressor, base::Percent share,
                   const std::vector<int>& cpus);

// Replaces each rate=60% of the schedule by a rate, and each shape=worst by a shape; `runs` has the CPUs of each
// stressor (divide()). Reads the file only if there is something to replace. An empty path means the default.
void resolve_rates(Schedule& schedule, const std::vector<std::vector<int>>& runs, const std::filesystem::path& file);

// One line for each level whose rate exceeds the capacity of windows of a tenth of a second here. Stressors that were
// not calibrated are skipped; an unreadable file gives no lines, since absolute rates need no limits.
std::vector<std::string> rates_beyond_windows(const Schedule& schedule, const std::vector<std::vector<int>>& runs,
                                              const std::filesystem::path& file);

}  // namespace noisegen
