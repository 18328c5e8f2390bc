// SPDX-License-Identifier: Apache-2.0
// Parts of each slowdown by what kept main threads from running, and the pressure on the job in that time.
#pragma once

#include "analysis/results/plots/plots.hpp"
#include "analysis/results/report.hpp"
#include "analysis/sections/noise_table.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace analysis {

// Effects of noise on the job's step.
std::vector<const Effect*> effects_on_step(const Report& report);

// The part of that effect with this cause; null if there is none.
const Effect* effect_on(const Report& report, const Effect& step, const std::string& cause);

// The slowdown minus its parts, in percent of the mean quiet step.
double unexplained_of(const Report& report, const Effect& step);

// How large each cause is in each slowdown.
NoiseTable parts_of_slowdown(const Report& report);

// Draws evidence.svg from evidence_parts.csv: how the causes add up from the quiet step to the step under each noise.
Plot draw_evidence(const std::filesystem::path& folder, const Report& report);

// Writes pressure.csv: for each treatment, the time in which the job was throttled or under pressure, or its CPUs were
// stolen.
void write_pressure(const std::filesystem::path& file, const Report& report);
NoiseTable pressure_table(const Report& report);

// Writes counters.csv: for each treatment, what counters of the processor say, as far as they were recorded.
void write_counters(const std::filesystem::path& file, const Report& report);
NoiseTable counters_table(const Report& report);

// The parts of a span under each treatment, as pairs of the treatment and ns.
std::vector<std::pair<std::size_t, double>> times_by_treatment(const Report& report, std::int64_t begin_ns,
                                                               std::int64_t end_ns);

// [treatment]: ns of its slots.
std::vector<double> lengths_of_treatments(const Report& report);

}  // namespace analysis
