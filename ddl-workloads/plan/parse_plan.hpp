// SPDX-License-Identifier: Apache-2.0
// Parses the command line of ddl-train.
#pragma once

#include "ddl-workloads/plan/plan.hpp"

#include <optional>

namespace ddl {

// Returns nothing if --help, --version or --list was given and has been printed. Throws UsageError.
std::optional<TrainingPlan> parse_plan(int argc, char** argv, const base::Registry<ModelCard>& models);

}  // namespace ddl
