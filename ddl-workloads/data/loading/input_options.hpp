// SPDX-License-Identifier: Apache-2.0
// Options of ddl-train for reading the training data.
#pragma once

#include "base/cli/options.hpp"
#include "ddl-workloads/data/loading/batch.hpp"
#include "ddl-workloads/data/records.hpp"

#include <filesystem>
#include <string>

namespace ddl {

struct InputPlan {
    int readers = 1;  // threads for each rank, as are transformers
    int queue = 4;    // batches read ahead
    int transformers = 0;
    Augmentation augmentation;
    Access access = Access::buffered;
    bool skip_corrupt = false;
    std::filesystem::path data_directory;  // empty: DIR/train/data
};

// Adds the options; options.check() completes the plan. Throws UsageError.
void add_input_options(base::Options& options, InputPlan& plan);

}  // namespace ddl
