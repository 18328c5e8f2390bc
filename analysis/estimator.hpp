// The estimator: per block, least squares of step time on the work shares of the treatments.
#pragma once

#include <Eigen/Dense>

#include <span>
#include <vector>

#include "analysis/exposure.hpp"

namespace analysis {

// Steps x treatments. labels[chip] is the treatment of a chip.
Eigen::MatrixXd time_shares(std::span<const Overlaps> overlaps, std::span<const std::size_t> labels,
                            std::size_t treatments);

// w_k = (x_k / m_k) / sum_j (x_j / m_j): the share of a step's work done under treatment k, where x is time and m the
// treatment's mean step. With time shares alone a true 100 % comes out as 98 %. Source: reference/statistics.md, rule 3.
Eigen::MatrixXd work_shares(const Eigen::MatrixXd& time_shares, const Eigen::VectorXd& mean_ms);

// One block's means by treatment, from a means model without intercept.
struct BlockMeans {
    int block = 0;
    Eigen::MatrixXd mean_ms;  // treatments x measures
};

struct Fit {
    std::vector<BlockMeans> blocks;
    int dropped = 0;          // blocks that lack a treatment
    Eigen::VectorXd mean_ms;  // treatments: their mean step, which made the work shares
};

// measures: steps x measures, the step itself in column 0. block[i] < 0: step i is not used.
Fit fit(std::span<const Overlaps> overlaps, std::span<const int> block, const Eigen::MatrixXd& measures,
        const Experiment& plan);

// Rows of one block only, for given shares; empty if the block lacks a treatment.
Eigen::MatrixXd block_means(const Eigen::MatrixXd& shares, const Eigen::MatrixXd& measures);

// Steps of each block, in order; block[i] < 0: step i is in none.
std::vector<std::vector<Eigen::Index>> steps_by_block(std::span<const int> block, int blocks);

}  // namespace analysis
