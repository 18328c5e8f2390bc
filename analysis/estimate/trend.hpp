// SPDX-License-Identifier: Apache-2.0
// A straight line through values over time.
#pragma once

#include "analysis/estimate/inference.hpp"

#include <optional>
#include <span>

namespace analysis {

// Slope of y over x by ordinary least squares, each value one observation, with its standard error and n - 2 degrees of
// freedom. None of fewer than three values, or where all x are the same.
std::optional<Mean> slope(std::span<const double> x, std::span<const double> y);

}  // namespace analysis
