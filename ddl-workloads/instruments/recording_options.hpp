// SPDX-License-Identifier: Apache-2.0
// Recording of a training, and the options of ddl-train for it.
#pragma once

#include "base/cli/options.hpp"
#include "ddl-workloads/instruments/details.hpp"

#include <string>

namespace ddl {

struct RecordingPlan {
    bool trace = true;
    base::Bytes memory{0};  // of each rank's events; 0: a chunk for each thread
    DetailLevel level = DetailLevel::L0;
    TraceSteps steps;              // whose details are recorded
    bool gpu = false;              // what the GPU did, too
    std::string metrics = "auto";  // of the rank's process: as ProcessMetrics takes it
    std::string openmetrics;       // a file of rank 0's; empty: none
};

class RecordingOptions {
 public:
    // Adds them; both must outlive it.
    RecordingOptions(base::Options& options, RecordingPlan& plan);

    // Completes the plan once the options were parsed. Throws UsageError.
    void read() const;

 private:
    const base::Options& options_;
    RecordingPlan& plan_;
    std::string trace_ = "on";
    std::string level_;
    std::string steps_;
    bool gpu_ = false;
};

}  // namespace ddl
