// SPDX-License-Identifier: Apache-2.0
// Least squares of step time with a mean of its own for each block.
#pragma once

#include "analysis/estimate/fit.hpp"

#include <Eigen/Dense>

#include <optional>

namespace analysis {

// Sums over steps, within blocks: a column is zero for a step that quiet has to itself.
struct WithinBlocks {
    double steps = 0.0;
    Eigen::VectorXd columns;   // sums
    Eigen::RowVectorXd time;   // of each measure
    Eigen::MatrixXd squares;   // of the columns around their means in the block
    Eigen::MatrixXd products;  // of columns and measures likewise

    void add(const WithinBlocks& other, double sign);
};

// Makes sums of products of one block those around the block's means.
void centre(WithinBlocks& block);

// The measures of a quiet step, and below them what one of each column adds; none if the steps do not separate them.
std::optional<Eigen::MatrixXd> solve(const WithinBlocks& all);

// Sets fit.mean_ms and each block's influence from the blocks' gram and time. Throws Error where a treatment has no
// step that can be separated from those of the others.
void solve_means(Fit& fit, const Experiment& plan);

}  // namespace analysis
