// SPDX-License-Identifier: Apache-2.0
// Parses the command line of ddl-train.
#pragma once

#include "ddl-workloads/plan/plan.hpp"

#include <optional>
#include <vector>

namespace ddl {

// Returns nothing if --help, --version or --list was given and has been printed. Throws UsageError. of_hooks: the
// options on the cards of hooks.
std::optional<TrainingPlan> parse_plan(int argc, char** argv, const base::Registry<ModelCard>& models,
                                       const std::vector<base::OptionCard>& of_hooks = {});

}  // namespace ddl
