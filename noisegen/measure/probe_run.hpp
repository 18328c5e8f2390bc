// SPDX-License-Identifier: Apache-2.0
// A victim on one CPU and noise on others in random order: what a probe measures, before anything is made of it.
#pragma once

#include "base/system/cpus.hpp"
#include "noisegen/execution/threads/sample.hpp"
#include "noisegen/measure/victims/victim.hpp"
#include "noisegen/resources/budgets.hpp"
#include "noisegen/schedule/slot_table.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <functional>
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
    std::filesystem::path out;          // what is written goes to OUT/probe/; empty: the table is all
};

struct ProbeRun {
    std::vector<Slot> table;  // whole blocks
    std::size_t blocks = 0;
    std::int64_t start_ns = 0;  // CLOCK_MONOTONIC
    std::vector<Slice> slices;
    std::vector<LevelTotal> levels;  // the noise's own traffic, all CPUs together
    std::vector<std::string> notes;  // by stressor

    // Share of the time of what noise there was in which others had its CPUs.
    double noise_waited() const;
};

// The rotation of these stressors. Throws UsageError for wrong words, slots or blocks.
Schedule probe_schedule(const Probe& probe, const std::vector<std::string>& stressors);

// Turns shares of limits into rates, and refuses what the budgets do not allow to noise and victim together. Throws
// UsageError. `warns` where the victim shares its core.
void check_probe(const Probe& probe, Schedule& schedule, const Victim::Setup& setup, bool warns = true);

// Noise alone: `start_victim` is called when all is made, and the whole table lies before it. Binds this thread to the
// noise's CPUs; make victims before. Fewer than all blocks if the program was asked to stop.
ProbeRun run_noise(const Probe& probe, const Schedule& schedule, const std::string& what,
                   const std::function<void()>& start_victim);

// With the victim that works in slices.
ProbeRun run_probe(const Probe& probe, const Schedule& schedule, const Victim::Setup& setup);

// Who, where, when, and what the probe was asked for.
nlohmann::ordered_json probe_record(const Probe& probe, const Schedule& schedule, const Victim::Setup& setup);

}  // namespace noisegen
