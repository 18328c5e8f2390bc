// SPDX-License-Identifier: Apache-2.0
// Effects on the tail and on the variability of steps: p95, p99, standard deviation, coefficient of variation.
#pragma once

#include "analysis/estimate/analyse.hpp"

#include <cstdint>
#include <vector>

namespace analysis {

// Steps that begin under a treatment, accidents included and recurring long steps not, against those that begin under
// quiet; each step as a share of the quiet mean step around it (its block and two on each side), which takes the drift
// away. Phases "p95 step", "p99 step" and "standard deviation" are in percent of the quiet step, "coefficient of
// variation" in points of percent. A quantile of one block says nothing, so those of all blocks are taken together; the
// spread is that of `draws` resampled runs, whole blocks at a time (bootstrap). A quantile with fewer than five steps
// beyond it under any treatment has no rows.
EffectTable tail_effects(const DesignedRun& run, const Analysis& analysis, std::uint64_t seed, int draws = 400);

}  // namespace analysis
