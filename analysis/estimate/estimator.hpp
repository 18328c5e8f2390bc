// The estimator: per block, least squares of step time on the work shares of the treatments.
#pragma once

#include "analysis/estimate/exposure.hpp"

#include <Eigen/Dense>

#include <span>
#include <vector>

namespace analysis {

// Steps x treatments. labels[slot] is the treatment of a slot.
Eigen::MatrixXd time_shares(std::span<const Overlaps> overlaps, std::span<const std::size_t> labels,
                            std::size_t treatments);

// w_k = (x_k / m_k) / sum_j (x_j / m_j): the share of a step's work done under treatment k, where x is time and m the
// treatment's mean step. With time shares alone a true 100 % comes out as 98 %: docs/statistics.md, rule 3.
Eigen::MatrixXd work_shares(const Eigen::MatrixXd& time_shares, const Eigen::VectorXd& mean_ms);

// One block's means by treatment, from a means model without intercept.
struct BlockMeans {
    int block = 0;
    Eigen::MatrixXd mean_ms;  // treatments x measures
    Eigen::VectorXd work;     // [treatment]: steps' worth of work that the means rest on
};

// A weighted sum of treatments' means over all blocks, each block's mean counting by its work.
//
// Why by work: a slot lasts a fixed time, so when steps happen to be slow fewer of them fit in. The plain average over
// blocks of time / steps is then too large, the more the fewer steps a block holds; quiet has more slots in a block
// than a factor, and the difference would show as an effect (0.07 points with a step noise of 6 % and an
// autocorrelation of 0.5; 0.6 points with 15 % and 0.8). Total time / total work has no such bias.
struct Pooled {
    double value = 0.0;         // ms
    Eigen::VectorXd influence;  // [block]: what the block moves the value by, times the number of blocks; sums to zero
};
Pooled pooled(const std::vector<BlockMeans>& blocks, const Eigen::VectorXd& weights, Eigen::Index measure);

struct Fit {
    std::vector<BlockMeans> blocks;
    int dropped = 0;          // blocks that lack a treatment
    Eigen::VectorXd mean_ms;  // treatments: their mean step, which made the work shares

    double quiet_step_ms() const { return pooled(blocks, Eigen::VectorXd::Unit(mean_ms.size(), 0), 0).value; }
};

// measures: steps x measures, the step itself in column 0. block[i] < 0: step i is not used.
Fit fit(std::span<const Overlaps> overlaps, std::span<const int> block, const Eigen::MatrixXd& measures,
        const Experiment& plan);

// Rows of one block only, for given shares; empty if the block lacks a treatment.
Eigen::MatrixXd block_means(const Eigen::MatrixXd& shares, const Eigen::MatrixXd& measures);

// Steps of each block, in order; block[i] < 0: step i is in none.
std::vector<std::vector<Eigen::Index>> steps_by_block(std::span<const int> block, int blocks);

}  // namespace analysis
