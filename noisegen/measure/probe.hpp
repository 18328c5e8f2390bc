// noisegen probe: what a small victim on a CPU keeps of its memory bandwidth, and how much longer its loads take, under
// each stressor, beside the traffic that the stressor itself moves. Bytes per second are not damage.
#pragma once

#include "base/system/cpus.hpp"
#include "noisegen/measure/damage.hpp"
#include "noisegen/resources/budgets.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace noisegen {

struct Probe {
    std::vector<std::string> stressors;  // as in a rotation; empty: the controls and what stresses cache and memory
    int victim = 0;                      // its CPU
    std::string array = "auto";          // of the victim's memory, see Victim::setup()
    base::CpuSet cpus;                   // make noise; not the victim's
    std::int64_t blocks = 10;
    base::Nanoseconds slot{300'000'000};
    std::uint64_t seed = 1;
    Budgets budgets;
    std::filesystem::path limits_file;  // for rate=60%; empty: the default
    std::filesystem::path out;          // probe.csv, probe.json and the plot go to OUT/probe/; empty: the table is all
};

// Prints a table, and remarks() below it. Returns the exit code: 3 if the program was asked to stop before two blocks
// were complete. Throws UsageError for wrong words, for what the budgets do not allow, and if OUT/probe is there.
int probe(const Probe& probe);

// The stressors of a probe on these CPUs whose user named none.
std::vector<std::string> default_probe_stressors(const base::CpuSet& cpus);

}  // namespace noisegen
