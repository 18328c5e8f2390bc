// SPDX-License-Identifier: Apache-2.0
// Least squares of step time with a mean of its own for each block.
#pragma once

#include "analysis/estimate/fit.hpp"

#include <Eigen/Dense>

#include <optional>

namespace analysis {

// Sums over steps within blocks. Columns are the treatments except quiet: a step wholly in quiet has zeros.
struct WithinBlocks {
    double steps = 0.0;
    Eigen::VectorXd columns;   // sums of the columns
    Eigen::RowVectorXd time;   // sums of the measures
    Eigen::MatrixXd squares;   // sums of products of columns, around their means in the block
    Eigen::MatrixXd products;  // sums of products of columns and measures, likewise

    void add(const WithinBlocks& other, double sign);
};

// Turns a block's sums of products into sums around the block's means.
void centre(WithinBlocks& block);

// Row 0: measures of a quiet step. Rows below: what one unit of each column adds. No value if the steps do not
// separate the columns from each other.
std::optional<Eigen::MatrixXd> solve(const WithinBlocks& all);

// Sets fit.mean_ms and each block's influence, from the blocks' `gram` and `time`. Throws Error if a treatment has no
// step that can be separated from those of other treatments.
void solve_means(Fit& fit, const Experiment& plan);

}  // namespace analysis
