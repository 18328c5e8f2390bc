// SPDX-License-Identifier: Apache-2.0
// Least squares of step time on the work shares of the treatments, with a mean of its own for each block.
#pragma once

#include "analysis/estimate/fit.hpp"

namespace analysis {

// Sets fit.mean_ms and each block's influence from the blocks' gram and time. Throws Error where a treatment has no
// step that can be separated from those of the others.
void solve_means(Fit& fit, const Experiment& plan);

}  // namespace analysis
