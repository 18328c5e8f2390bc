// SPDX-License-Identifier: Apache-2.0
// The estimator: least squares of ordinary step time on the treatments' work shares, and the excess time of long steps.
#pragma once

#include "analysis/estimate/assigned/exposure.hpp"
#include "analysis/estimate/assigned/long_steps.hpp"
#include "analysis/estimate/fit.hpp"
#include "analysis/estimate/inference.hpp"
#include "analysis/estimate/strata.hpp"

#include <Eigen/Dense>

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace analysis {

// Time shares of these steps (rows) by treatment (columns). labels[slot] is the treatment of a slot.
Eigen::MatrixXd time_shares(const StepOverlaps& shares, std::span<const Eigen::Index> steps,
                            std::span<const std::size_t> labels, std::size_t treatments);

// w_k = (x_k / m_k) / sum_j (x_j / m_j): the share of a step's work done under treatment k, where x is time and m the
// treatment's mean step. With time shares alone a true 100 % comes out as 98 %: docs/statistics.md, rule 3.
Eigen::MatrixXd work_shares(const Eigen::MatrixXd& time_shares, const Eigen::VectorXd& mean_ms);

// A weighted sum of the means of treatments and, optionally, of the carry-over of noises (then with the means of
// Lasting).
struct Combination {
    Eigen::VectorXd treatments;
    Eigen::VectorXd carried{};    // weight of each noise's carry-over, or empty
    bool strata_met = false;      // use Fit::strata_met for the strata
    bool strata_counted = false;  // count strata as frequent under each noise as observed

    Combination(Eigen::VectorXd of_treatments) : treatments{std::move(of_treatments)} {}
    Combination(Eigen::VectorXd of_treatments, Eigen::VectorXd of_carried)
        : treatments{std::move(of_treatments)}, carried{std::move(of_carried)}
    {
    }
    Combination only(Eigen::VectorXd of_treatments) const
    {
        Combination other{std::move(of_treatments), Eigen::VectorXd::Zero(carried.size())};
        other.strata_met = strata_met;
        other.strata_counted = strata_counted;
        return other;
    }
};

// Adds to a contrast the carry-over of its noises: of those in `lasting`, or of all. If any noise has carry-over, every
// contrast uses the means after slots without noise, because plain means include carry-over. Nothing is added where the
// order of slots does not separate carry-over from effects.
Combination combination(const Fit& fit, const Eigen::VectorXd& weights, const std::vector<Assigned>& lasting);
Combination with_carry_over(const Fit& fit, const Eigen::VectorXd& weights);

// A measure under a combination of treatments, in ms.
struct Estimate {
    double value = 0.0;
    Eigen::VectorXd influence;        // [block]: influence of ordinary steps; sums to about zero
    double variance = 0.0;            // variance of the strata's part
    double degrees_of_freedom = 0.0;  // degrees of freedom of that variance
    // No step of some stratum began under a treatment with weight, so the stratum is not included.
    bool lacks_a_stratum = false;
};
Estimate estimate(const Fit& fit, const Combination& weights, Eigen::Index measure, bool with_accidents);

// A contrast in percent of the mean quiet step. Both share the drift of blocks, so the spread is that of difference -
// ratio x quiet, not of the difference alone (the usual standard error of a ratio).
Mean percent_of_quiet(const Fit& fit, const Combination& weights, Eigen::Index measure, bool with_accidents);
// [block]: the block's influence on that percentage, times the number of blocks; without strata.
Eigen::VectorXd percent_influence(const Fit& fit, const Combination& weights, Eigen::Index measure,
                                  bool with_accidents);

double quiet_step_ms(const Fit& fit, bool with_accidents);

// Throws Error where a treatment has no step at all.
//
// Each block has its own means, so that steps are compared within a block only. A slot lasts a fixed time: if the
// length of steps changes during a run and a noise slows the short ones, fewer short steps fit into the noise's slots,
// and means over all blocks would differ for that reason, too (13.6 % for a true 9 %). Blocks are weighted by their
// number of steps, not equally: fewer steps fit into a slot when they happen to be slow.
Fit fit(const Series& series, const StepsOf& steps);

}  // namespace analysis
