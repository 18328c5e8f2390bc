// SPDX-License-Identifier: Apache-2.0
// Finds harm of a noise outside of its measured effect.
#pragma once

#include "analysis/estimate/analyse.hpp"

#include <optional>
#include <string>

namespace analysis {

// Confidence for distrusting a control or a rank; high, so that chance alone rarely causes distrust.
constexpr double distrust_confidence = 0.999;

// Why a noise cannot be called safe although the interval of its effect is below the budget: long or shorter steps in
// the slots after it, a state that all noises leave behind, its cost when it runs alone, or its cost to a single rank.
std::optional<std::string> harm_beside(const Analysis& analysis, const Effect& effect, double budget_percent,
                                       double confidence);

}  // namespace analysis
