// SPDX-License-Identifier: Apache-2.0
// noisegen probe --victim bandwidth,fsync,..: every noise against every victim, ours and any program beside it.
#pragma once

#include "noisegen/measure/harm.hpp"
#include "noisegen/measure/probe_run.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace noisegen {

// "bandwidth", "latency", "llc", "fsync", "tcp", "step".
const std::vector<std::string>& victim_names();

struct HarmProbe {
    Probe probe;                             // its stressors; empty: all that can be on alone
    std::vector<std::string> victims;        // some of victim_names(), each once
    std::vector<std::string> peers;          // words for the shell, without a line break; start again when they end
    std::filesystem::path scratch = "/tmp";  // where the victim of fsync writes, and stressors write
    std::string model;                       // of the training that is the victim of `step`
    bool slot_given = false;                 // else victims that wait have slots of a second
};

// Harm of one noise to each victim.
struct Harm {
    std::string name;      // "memory.stream[shape=update]", or the peer's words
    std::string stressor;  // the level's label; "peer" of a peer
    std::string level;
    double own_bytes_per_s = 0.0;
    double own_operations_per_s = 0.0;
    std::vector<Estimate> slowdowns;  // by victim
};

struct HarmReport {
    std::vector<std::string> victims;
    std::vector<double> quiet_per_second;  // by victim: bytes of bandwidth, else loads, syncs, messages, steps
    std::vector<Harm> harms;               // by level
    std::size_t blocks = 0;
};

// All stressors that can be on alone, in `scratch` where they write, with the controls.
std::vector<std::string> default_harm_stressors(const base::CpuSet& cpus, const std::filesystem::path& scratch);

// The victims' units: "bytes/s".
std::string unit_of_victim(const std::string& victim);

// noise,stressor,level,victim,blocks,slowdown,low,high,quiet_per_s,unit,own_bytes_per_s,own_operations_per_s: a row a
// noise and victim.
void write_harm_csv(const std::filesystem::path& file, const HarmReport& report);

// Prints a table; harm.csv and harm.json go to OUT/probe/. The noises are in turn on in each block, in random order; a
// block before the first one is not counted, in which peers make what they need. Returns the exit code: 3 if the
// program was asked to stop before two blocks were complete with each victim, or if a peer ended with an error. Throws
// UsageError as probe() does.
int probe_harm(const HarmProbe& asked);

}  // namespace noisegen
