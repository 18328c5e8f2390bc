// SPDX-License-Identifier: Apache-2.0
// Budgets of stressors on a GPU, so that they take nothing that a training may need.
#pragma once

#include "noisegen/resources/budgets.hpp"

#include <filesystem>
#include <vector>

namespace noisegen {

// Checks the GPU demands of `processes` equal processes on this host that use the same GPU. Creates a context, which
// alone takes some hundred megabytes, to ask how much memory is free. Throws Unavailable without a GPU; UsageError that
// names the request, the free memory and the memory that must stay free; Error if not even a context fits. Does nothing
// if no stressor needs a GPU.
void check_gpus(const std::vector<Demand>& demands, const std::filesystem::path& control_run,
                int processes = base::local_rank().size);

}  // namespace noisegen
