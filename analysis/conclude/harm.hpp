// SPDX-License-Identifier: Apache-2.0
// Harm that the effect of a noise does not hold.
#pragma once

#include "analysis/estimate/analyse.hpp"

#include <optional>
#include <string>

namespace analysis {

// For what is distrusted or refused: of many runs few may be it by chance.
constexpr double distrust_confidence = 0.999;

// Why a noise cannot be called safe though the interval of its effect may lie below the budget: long steps or shorter
// ones in the slots after it, what it costs without the other noises, or to a single rank.
std::optional<std::string> harm_beside(const Analysis& analysis, const Effect& effect, double budget_percent,
                                       double confidence);

// Where slots follow one another in a fixed order: the other noise that comes right before this one, whose remains
// cannot be told from the effect.
std::optional<std::string> noise_always_before(const Experiment& plan, const Effect& effect);

}  // namespace analysis
