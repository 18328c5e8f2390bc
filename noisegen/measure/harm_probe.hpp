// SPDX-License-Identifier: Apache-2.0
// noisegen probe --victim bandwidth,fsync,..: measures every noise, stressors and other programs, against every victim.
#pragma once

#include "noisegen/measure/harm.hpp"
#include "noisegen/measure/probe_run.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace noisegen {

// All victims: "bandwidth", "latency", "llc", "fsync", "tcp", "step".
const std::vector<std::string>& victim_names();

struct HarmProbe {
    Probe probe;                             // stressors empty: all that can run alone
    std::vector<std::string> victims;        // some of victim_names(), each at most once
    std::vector<std::string> peers;          // shell commands, each a single line; restarted when they end
    std::filesystem::path scratch = "/tmp";  // where the fsync victim and stressors write
    std::string model;                       // model of the training that is the victim `step`
    bool slot_given = false;                 // false: victims that wait get slots of one second
};

// Harm of one noise to each victim.
struct Harm {
    std::string name;      // "memory.stream[shape=update]", or the peer's command
    std::string stressor;  // the level's label; "peer" for a peer
    std::string level;
    double own_bytes_per_s = 0.0;
    double own_operations_per_s = 0.0;
    std::vector<Estimate> slowdowns{};  // one element per victim
};

struct HarmReport {
    std::vector<std::string> victims;
    std::vector<double> quiet_per_second;  // one per victim: bytes of bandwidth; else loads, syncs, messages or steps
    std::vector<Harm> harms{};             // one element per level
    std::size_t blocks = 0;
};

// All stressors that can run alone, with the controls; those that write use `scratch`.
std::vector<std::string> default_harm_stressors(const base::CpuSet& cpus, const std::filesystem::path& scratch);

// Unit of a victim's work, such as "bytes/s".
std::string unit_of_victim(const std::string& victim);

// Columns: noise,stressor,level,victim,blocks,slowdown,low,high,quiet_per_s,unit,own_bytes_per_s,own_operations_per_s;
// one row per noise and victim.
void write_harm_csv(const std::filesystem::path& file, const HarmReport& report);

// Prints a table and writes harm.csv and harm.json to OUT/probe/. In each block every noise is on once, in random
// order. An extra first block is not counted: peers set themselves up in it. Returns the exit code: 3 if the program
// was asked to stop before two blocks were complete with each victim, or if a peer ended with an error. Throws
// UsageError as probe() does.
int probe_harm(const HarmProbe& asked);

}  // namespace noisegen
