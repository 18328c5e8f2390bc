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

// Adds the options; options.check() completes the plan. Throws UsageError.
void add_recording_options(base::Options& options, RecordingPlan& plan);

}  // namespace ddl
