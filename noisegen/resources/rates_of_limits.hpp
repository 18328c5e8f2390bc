// SPDX-License-Identifier: Apache-2.0
// Rates that are a share of what a stressor reaches on this node.
#pragma once

#include "noisegen/resources/node_limits.hpp"
#include "noisegen/schedule/schedule.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace noisegen {

// The share of what the stressor reached on this number of CPUs in its worst round: bytes if it counts them, else
// operations. Throws UsageError with the command that would calibrate it.
base::Rate resolve(const NodeLimits& limits, const Configured& stressor, base::Percent share,
                   const std::vector<int>& cpus);

// Turns every rate=60% of the schedule into a rate, and every shape=worst into a shape; `runs` are the CPUs of each
// stressor (divide()). Reads the file only if there is one to turn. An empty path means the default.
void resolve_rates(Schedule& schedule, const std::vector<std::vector<int>>& runs, const std::filesystem::path& file);

// A line for each level whose rate, now known, is more than windows of a tenth of a second hold here. None for what
// was not calibrated, or if the file cannot be read: whose rate is no share of a limit needs no limits.
std::vector<std::string> rates_beyond_windows(const Schedule& schedule, const std::vector<std::vector<int>>& runs,
                                              const std::filesystem::path& file);

}  // namespace noisegen
