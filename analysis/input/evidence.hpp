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

struct Evidence {
    std::vector<EvidenceRow> rows;
    std::vector<std::string> names;  // causes, which exclude each other in time
    LongTable ms;                    // steps of the job x names: mean over ranks

    bool known() const { return !names.empty(); }
};

// Reads the evidence; the training's record names the processes of the ranks. Empty if the run's directory has no os/.
// A row over several steps is divided among them by time: exact for an interruption, an even spread for a sum. If the
// kernel's BPF programs recorded, only their rows count; else run-queue waits by schedstat. A wait on an idle CPU while
// the job's quota throttled it counts as `throttled`. Throws Error if the record does not name the ranks' processes, or
// the table is damaged.
Evidence read_evidence(const std::filesystem::path& run, const nlohmann::ordered_json& training_record,
                       const StepTable& steps);

}  // namespace analysis
