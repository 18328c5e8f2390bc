// SPDX-License-Identifier: Apache-2.0
// Options of ddl-train for recording a training.
#pragma once

#include "base/cli/options.hpp"
#include "ddl-workloads/instruments/details.hpp"

#include <string>

namespace ddl {

struct RecordingPlan {
    bool trace = true;
    base::Bytes memory{0};  // memory for each rank's events; 0: one chunk for each thread
    DetailLevel level = DetailLevel::L0;
    TraceSteps steps;              // the steps whose details are recorded
    bool gpu = false;              // also record GPU activity
    std::string metrics = "auto";  // process metrics, as in ProcessMetrics
    std::string openmetrics;       // file written by rank 0; empty: none
};

class RecordingOptions {
 public:
    // Adds the options to `options`; both arguments must outlive this object.
    RecordingOptions(base::Options& options, RecordingPlan& plan);

    // Completes the plan after the options were parsed. Throws UsageError.
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
