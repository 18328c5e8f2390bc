// SPDX-License-Identifier: Apache-2.0
// The options of ddl-train for the update of parameters.
#pragma once

#include "base/cli/options.hpp"
#include "ddl-workloads/models/model.hpp"

#include <string>

namespace ddl {

// Adds the options; options.check() completes the plan. Throws UsageError.
void add_optimizer_options(base::Options& options, OptimizerPlan& plan);

}  // namespace ddl
