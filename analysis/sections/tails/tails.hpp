// SPDX-License-Identifier: Apache-2.0
// Effects on the tail and on the variability of steps: p95, p99, standard deviation, coefficient of variation.
#pragma once

#include "analysis/estimate/analyse.hpp"

#include <cstdint>
#include <vector>

namespace analysis {

// Compares steps that begin under a treatment with those that begin under quiet, accidents included and recurring long
// steps not. Each step counts relative to the mean quiet step around it (its block and two on each side), which removes
// drift. Phases "p95 step", "p99 step" and "standard deviation" are in percent of the quiet step, "coefficient of
// variation" in percentage points. Quantiles are of all blocks together, because one block has too few steps. The
// spread is that of `draws` bootstrap samples of whole blocks. A quantile with fewer than five steps beyond it under
// any treatment has no rows.
EffectTable tail_effects(const DesignedRun& run, const Analysis& analysis, std::uint64_t seed, int draws = 400);

}  // namespace analysis
