// The estimator: per block, least squares of step time on the work shares of the treatments.
#pragma once

#include "analysis/estimate/exposure.hpp"
#include "trace-tools/otf2/read/confined.hpp"

#include <Eigen/Dense>

#include <span>
#include <utility>
#include <vector>

namespace analysis {

// Of these steps, x treatments. labels[slot] is the treatment of a slot.
Eigen::MatrixXd time_shares(const StepOverlaps& overlaps, std::span<const Eigen::Index> steps,
                            std::span<const std::size_t> labels, std::size_t treatments);

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

// measures: the step itself is the first. block[i] < 0: step i is not used. A block with more than most_rows steps is
// solved some rows at a time: rows are reduced to the triangle of their QR factorisation, which takes their place among
// the next ones. As exact, but not the same to the last bit.
Fit fit(const StepOverlaps& overlaps, const base::LongColumn<int>& block, const Measures& measures,
        const Experiment& plan);
inline constexpr std::size_t most_rows = 16384;
inline constexpr double least_work_of_block = 0.5;  // a block lacks a treatment that had less in all its steps

// Rows of one block only, for given shares; empty if the block lacks a treatment.
Eigen::MatrixXd block_means(const Eigen::MatrixXd& shares, const Eigen::MatrixXd& measures);

// The steps of each block, in order.
class StepsByBlock {
 public:
    StepsByBlock(const base::LongColumn<int>& block, int blocks);  // which must outlive it; block[i] < 0: in none

    template <class Do>
    void each(int block, const Do& with_step) const
    {
        otf2::getting_on();  // where this is a part of reading
        const auto [first, until] = spans_[static_cast<std::size_t>(block)];
        for (std::size_t i = first; i < until; ++i)
            if (block_[i] == block) with_step(i);
    }
    // At most most_rows at once; at least once, then of no step.
    template <class Do>
    void each_chunk(int block, const Do& with_steps) const
    {
        std::vector<Eigen::Index> steps;
        each(block, [&](std::size_t step) {
            if (steps.size() == most_rows) {
                with_steps(steps);
                steps.clear();
            }
            steps.push_back(static_cast<Eigen::Index>(step));
        });
        with_steps(steps);
    }

 private:
    const base::LongColumn<int>& block_;
    std::vector<std::pair<std::size_t, std::size_t>> spans_;  // from the first step of a block until its last
};

}  // namespace analysis
