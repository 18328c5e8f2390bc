// SPDX-License-Identifier: Apache-2.0
// Options of ddl-train for writing checkpoints.
#pragma once

#include "base/cli/options.hpp"
#include "ddl-workloads/checkpoint/checkpointer.hpp"

#include <string>

namespace ddl {

class CheckpointOptions {
 public:
    // Adds the options to `options`; both arguments must outlive this object.
    CheckpointOptions(base::Options& options, CheckpointPlan& plan);

    // Completes the plan after the options were parsed. Throws UsageError.
    void read() const;

 private:
    const base::Options& options_;
    CheckpointPlan& plan_;
    std::string every_;
    std::string compress_ = "none";
    std::string mode_ = "sync";
    std::string by_ = "rank0";
    std::string fsync_ = "yes";
};

}  // namespace ddl
