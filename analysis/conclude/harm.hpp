// SPDX-License-Identifier: Apache-2.0
// Finds harm of a noise that its effect does not include.
#pragma once

#include "analysis/estimate/analyse.hpp"

#include <optional>
#include <string>

namespace analysis {

// Confidence beyond which a control or a rank is distrusted: high, so that chance alone rarely does it.
constexpr double distrust_confidence = 0.999;

// Why a noise cannot be called safe although the interval of its effect lies below the budget: long or shorter steps in
// the slots after it, what all noises leave alike, its cost without the other noises, or its cost to a single rank.
std::optional<std::string> harm_beside(const Analysis& analysis, const Effect& effect, double budget_percent,
                                       double confidence);

}  // namespace analysis
