// SPDX-License-Identifier: Apache-2.0
// The options of ddl-train that say how parameters are updated.
#pragma once

#include "base/cli/options.hpp"
#include "ddl-workloads/models/model.hpp"

#include <string>

namespace ddl {

class OptimizerOptions {
 public:
    // Adds them; both must outlive it.
    OptimizerOptions(base::Options& options, OptimizerPlan& plan);

    // Completes the plan once the options were parsed. Throws UsageError.
    void read() const;

 private:
    const base::Options& options_;
    OptimizerPlan& plan_;
    std::string rate_;
};

}  // namespace ddl
