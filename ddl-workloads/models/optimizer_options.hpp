// SPDX-License-Identifier: Apache-2.0
// The options of ddl-train for the update of parameters.
#pragma once

#include "base/cli/options.hpp"
#include "ddl-workloads/models/model.hpp"

#include <string>

namespace ddl {

class OptimizerOptions {
 public:
    // Adds the options to `options`; both arguments must outlive this object.
    OptimizerOptions(base::Options& options, OptimizerPlan& plan);

    // Completes the plan after the options were parsed. Throws UsageError.
    void read() const;

 private:
    const base::Options& options_;
    OptimizerPlan& plan_;
    std::string rate_;
};

}  // namespace ddl
