// SPDX-License-Identifier: Apache-2.0
// The measurement of a probe: a victim on one CPU, and noise on others in random order.
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
    std::vector<std::string> stressors;  // words of a rotation; empty: the controls, cache and memory stressors
    int victim = 0;                      // CPU of the victim
    std::string array = "auto";          // size of the victim's array, see Victim::setup()
    base::CpuSet cpus;                   // noise CPUs, without the victim's
    std::int64_t blocks = 10;
    base::Nanoseconds slot{300'000'000};
    std::uint64_t seed = 1;
    Budgets budgets;
    std::filesystem::path limits_file;  // limits for rates like 60%; empty: the default file
    std::filesystem::path out;          // output goes to OUT/probe/; empty: only the table is printed
};

struct ProbeRun {
    std::vector<Slot> table;  // whole blocks only
    std::size_t blocks = 0;
    std::int64_t start_ns = 0;  // CLOCK_MONOTONIC
    std::vector<Slice> slices;
    std::vector<LevelTotal> levels;  // the noise's own traffic, summed over CPUs
    std::vector<std::string> notes;  // one note per stressor

    // Share of the noise's time in which other threads had its CPUs.
    double noise_waited() const;
    bool a_job_ended() const;  // a command of job.run ended with an error, or runs in the background
};

// The rotation of these stressors. Throws UsageError for invalid stressors, slots or blocks.
Schedule probe_schedule(const Probe& probe, const std::vector<std::string>& stressors);

// Turns shares of limits into rates, and checks the budgets for noise and victim together. Throws UsageError. With
// `warns`, prints a warning if the victim shares its core.
void check_probe(const Probe& probe, Schedule& schedule, const Victim::Setup& setup, bool warns = true);

// Runs the noise only. `start_victim` is called when all is ready and the whole table still lies ahead. Binds this
// thread to the noise's CPUs, so make victims before. The result has fewer blocks if the program was asked to stop.
ProbeRun run_noise(const Probe& probe, const Schedule& schedule, const std::string& what,
                   const std::function<void()>& start_victim);

// Runs the noise and, on its own CPU, the victim that works in slices.
ProbeRun run_probe(const Probe& probe, const Schedule& schedule, const Victim::Setup& setup);

// Host, time and options of the probe.
nlohmann::ordered_json probe_record(const Probe& probe, const Schedule& schedule, const Victim::Setup& setup);

}  // namespace noisegen
