// SPDX-License-Identifier: Apache-2.0
// Evidence from trace-os: time in each step in which the main thread of a rank was kept from running, by cause.
#pragma once

#include "analysis/input/step_work/long_table.hpp"
#include "analysis/input/steps.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace analysis {

struct EvidenceRow {
    int rank = 0;
    std::int64_t step = 0;  // number of the step
    std::string source;
    std::string cause;
    std::string by;
    double ms = 0.0;
};

// Growth of a counter of the whole job, or of its CPUs, between two readings.
struct JobReading {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::string cause;  // throttled, steal, pressure
    std::string by;     // for pressure: "cpu some"
    std::int64_t ns = 0;
};

// A counter of the processor between two readings, such as instructions: the sum over threads, CPUs or caches.
struct CounterReading {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::string cause;
    double sum = 0.0;  // increase; for clock rates (kHz) and cache occupancy (bytes) the value at the end
    int of = 0;        // number of threads, CPUs or caches
};

struct Evidence {
    std::vector<EvidenceRow> rows;
    std::vector<std::string> names;        // causes, which exclude each other
    LongTable ms;                          // job's steps x names: mean over ranks
    std::vector<JobReading> readings;      // of the first rank's host
    std::vector<CounterReading> counters;  // of that host, too
    std::string throttled_lacks;           // why throttled time is unknown on that host; empty if it is known

    bool known() const { return !names.empty(); }
};

// Reads os.csv of each rank's host; the training's record names the ranks' processes. Empty without os/ in the run's
// directory. A row that spans several steps is divided among them by time, which is exact for an interruption, and an
// even spread for a sum. If eBPF programs recorded, only their rows count, and steal. Otherwise interrupts come from
// /proc/stat, waits for a disk from delay accounting, and waits for a CPU from schedstat; of the latter, the time that
// the job's quota was used up is `throttled`. Throws Error if the record does not name the ranks' processes, or if a
// table is damaged.
Evidence read_evidence(const std::filesystem::path& run, const nlohmann::ordered_json& training_record,
                       const StepTable& steps);

}  // namespace analysis
