// SPDX-License-Identifier: Apache-2.0
// The options of ddl-train.
#pragma once

#include "ddl-workloads/plan/plan.hpp"

#include <optional>

namespace ddl {

// Empty if --help, --version or --list was asked for and has been printed. Throws UsageError.
std::optional<TrainingPlan> parse_plan(int argc, char** argv, const base::Registry<ModelCard>& models);

}  // namespace ddl
