// SPDX-License-Identifier: Apache-2.0
// Budgets of stressors on a GPU, and the refusal to take what a training may need.
#pragma once

#include "noisegen/resources/budgets.hpp"

#include <filesystem>
#include <vector>

namespace noisegen {

// `processes` of this host take as much each of the same GPU. Asks with a context of this process, which takes some
// hundred megabytes alone, what is free beside it. Throws Unavailable where there is no GPU, UsageError that says
// what was asked for, what is free and what must stay free, Error where not even a context has room. Without a demand
// of a GPU it does nothing.
void check_gpus(const std::vector<Demand>& demands, const std::filesystem::path& control_run,
                int processes = base::local_rank().size);

}  // namespace noisegen
