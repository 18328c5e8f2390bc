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

class InputOptions {
 public:
    // Adds the options to `options`; both arguments must outlive this object.
    InputOptions(base::Options& options, InputPlan& plan);

    // Completes the plan after the options were parsed. Throws UsageError.
    void read() const;

 private:
    InputPlan& plan_;
    std::string augment_ = "none";
    std::string corrupt_ = "stop";
    bool drop_page_cache_ = false;
    bool direct_ = false;
    std::string data_directory_;
};

}  // namespace ddl
