// SPDX-License-Identifier: Apache-2.0
// Files of a probe: probe.csv, probe.json, and a plot of damage against the traffic achieved.
#pragma once

#include "noisegen/measure/victim_slowdown.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <vector>

namespace noisegen {

// Columns: stressor,level,blocks,own_bytes_per_s,own_operations_per_s, then value, low and high of each ratio.
void write_probe_csv(const std::filesystem::path& folder, const DamageReport& report);

// `record` is base::run_record() with the probe's options.
void write_probe_json(const std::filesystem::path& folder, nlohmann::ordered_json record, const DamageReport& report);

// Draws probe.svg, and keeps its script and data in the same folder. Returns false if there is nothing to show, or if
// gnuplot failed (reported on stderr).
bool draw_probe(const std::filesystem::path& folder, const DamageReport& report);

// Positions for labels: as near to `wanted` as a distance of `gap` between them allows, within 0 .. 1; in the same
// order.
std::vector<double> spread(const std::vector<double>& wanted, double gap);

}  // namespace noisegen
