// SPDX-License-Identifier: Apache-2.0
// noisegen probe: what a small victim on a CPU keeps of its memory bandwidth, and how much longer its loads take, under
// each stressor, beside the traffic that the stressor itself moves. Bytes per second are not damage.
#pragma once

#include "noisegen/measure/probe_run.hpp"
#include "noisegen/measure/victim_slowdown.hpp"

#include <string>
#include <vector>

namespace noisegen {

// Prints a table, and remarks() below it; probe.csv, probe.json and the plot go to OUT/probe/. Returns the exit code: 3
// if the program was asked to stop before two blocks were complete. Throws UsageError for wrong words, for what the
// budgets do not allow, and if OUT/probe is there.
int probe(const Probe& probe);

// With the noise's own traffic.
DamageReport damage_of(const Schedule& schedule, const ProbeRun& run);

// "memory.stream[..,shape=triad|copy|..]", with memory enough for these CPUs.
std::string all_stream_shapes(const base::CpuSet& cpus);

// The stressors of a probe on these CPUs whose user named none.
std::vector<std::string> default_probe_stressors(const base::CpuSet& cpus);

}  // namespace noisegen
