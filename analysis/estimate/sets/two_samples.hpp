// SPDX-License-Identifier: Apache-2.0
// Compares two sets of independent values, such as means of runs.
#pragma once

#include "analysis/estimate/inference.hpp"

#include <Eigen/Dense>

namespace analysis {

// Difference of two means of independent values with Welch's standard error and degrees of freedom.
Mean welch(const Eigen::VectorXd& from, const Eigen::VectorXd& to);

// Two-sided p-value of the Mann-Whitney U test: exact with up to 20 values per side and no ties, else the normal
// approximation.
double mann_whitney_p(const Eigen::VectorXd& a, const Eigen::VectorXd& b);

// The shift from one set to the other after Hodges and Lehmann: the median of the differences of all pairs.
double hodges_lehmann(const Eigen::VectorXd& from, const Eigen::VectorXd& to);

}  // namespace analysis
