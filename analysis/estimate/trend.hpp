// SPDX-License-Identifier: Apache-2.0
// Fits a straight line to values over time.
#pragma once

#include "analysis/estimate/inference.hpp"

#include <optional>
#include <span>

namespace analysis {

// Slope of y over x by ordinary least squares, with its standard error and n - 2 degrees of freedom; each value is one
// observation. None with fewer than three values, or if all x are equal.
std::optional<Mean> slope(std::span<const double> x, std::span<const double> y);

}  // namespace analysis
