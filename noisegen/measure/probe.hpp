// SPDX-License-Identifier: Apache-2.0
// noisegen probe: the share of memory bandwidth that a small victim on one CPU keeps under each stressor, how much
// longer its loads take, and the stressor's own traffic. A stressor's bytes per second do not measure its damage.
#pragma once

#include "noisegen/measure/probe_run.hpp"
#include "noisegen/measure/victim_slowdown.hpp"

#include <string>
#include <vector>

namespace noisegen {

// Prints a table with remarks() below it, and writes probe.csv, probe.json and the plot to OUT/probe/. Returns the exit
// code: 3 if the program was asked to stop before two blocks were complete. Throws UsageError for invalid options, for
// demands beyond the budgets, and if OUT/probe exists.
int probe(const Probe& probe);

// Damage of each level, including the noise's own traffic.
DamageReport damage_of(const Schedule& schedule, const ProbeRun& run);

// "memory.stream[..,shape=triad|copy|..]" with enough memory for these CPUs.
std::string all_stream_shapes(const base::CpuSet& cpus);

// The stressors of a probe on these CPUs if the user named none.
std::vector<std::string> default_probe_stressors(const base::CpuSet& cpus);

}  // namespace noisegen
