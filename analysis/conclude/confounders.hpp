// SPDX-License-Identifier: Apache-2.0
// Finds confounders: other explanations of an effect of noise without a design.
#pragma once

#include "analysis/estimate/analyse.hpp"

#include <string>
#include <vector>

namespace analysis {

// Sentences on confounders, one each. The first holds for every observation: times of noise were not drawn. The others
// are given where they apply:
// 1. few episodes, fewer than ten of a noise;
// 2. one part of the run: all of a noise lies within less than half of the run, so its effect may be that of the time
//    of day or of the run's age;
// 3. a trend: quiet steps change over the run, and noise ran early or late in it, so that the trend alone explains a
//    slowdown of 0.2 % or more, or a tenth of the effect;
// 4. noise that follows the training: episodes begin at the same place of a step (Rayleigh's test, p < 0.01), or in
//    steps with a phase that other steps lack (binomial test, p < 0.01).
std::vector<std::string> confounders(const DesignedRun& run, const Analysis& analysis);

}  // namespace analysis
