// SPDX-License-Identifier: Apache-2.0
// Files of a probe: probe.csv, probe.json, and a plot of damage against delivered traffic.
#pragma once

#include "noisegen/measure/victim_slowdown.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <vector>

namespace noisegen {

// stressor,level,blocks,own_bytes_per_s,own_operations_per_s, then value, low and high of each ratio.
void write_probe_csv(const std::filesystem::path& folder, const DamageReport& report);

// `record` is base::run_record() with what the probe was asked for.
void write_probe_json(const std::filesystem::path& folder, nlohmann::ordered_json record, const DamageReport& report);

// probe.svg with its script and data beside it. False if nothing can be shown, or if gnuplot could not draw it
// (reported on stderr).
bool draw_probe(const std::filesystem::path& folder, const DamageReport& report);

// Places for labels: as near to the wanted ones as `gap` between avoided_processes allows, within 0 .. 1; in the order
// given.
std::vector<double> spread(const std::vector<double>& wanted, double gap);

}  // namespace noisegen
