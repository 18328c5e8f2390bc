// SPDX-License-Identifier: Apache-2.0
// Parts of each slowdown by what kept main threads from running, and pressure on the job beside them.
#pragma once

#include "analysis/results/plots/plots.hpp"
#include "analysis/results/report.hpp"
#include "analysis/sections/noise_table.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace analysis {

// Effects on the job's step.
std::vector<const Effect*> effects_on_step(const Report& report);

// The part of that effect, or nullptr.
const Effect* effect_on(const Report& report, const Effect& step, const std::string& cause);

// The slowdown without its parts, percent of the quiet mean step.
double unexplained_of(const Report& report, const Effect& step);

// evidence.svg from evidence_parts.csv: from the quiet step to that under each noise.
Plot draw_evidence(const std::filesystem::path& folder, const Report& report);

// Time under each treatment in which the job was throttled, under pressure, or its CPUs were stolen, as pressure.csv.
void write_pressure(const std::filesystem::path& file, const Report& report);
NoiseTable pressure_table(const Report& report);

}  // namespace analysis
