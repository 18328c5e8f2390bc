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
    std::string by;     // of pressure: "cpu some"
    std::int64_t ns = 0;
};

struct Evidence {
    std::vector<EvidenceRow> rows;
    std::vector<std::string> names;    // causes, which exclude each other
    LongTable ms;                      // job's steps x names: mean over ranks
    std::vector<JobReading> readings;  // of the first rank's host
    std::string throttled_lacks;       // why throttled time is not known there; empty if it is

    bool known() const { return !names.empty(); }
};

// The processes of the ranks stand in the record of the training. Empty where the run's directory has no os/. A row
// that reaches over several steps is divided over them by time: exact for an interruption, an even spread for a sum.
// Where the kernel's programs recorded, only their rows count; else waits for a disk by delay accounting and waits for
// a CPU by schedstat, of which as much is `throttled` as the job's quota throttled it. Throws Error if the record does
// not name the ranks' processes, or the table is damaged.
Evidence read_evidence(const std::filesystem::path& run, const nlohmann::ordered_json& training_record,
                       const StepTable& steps);

}  // namespace analysis
