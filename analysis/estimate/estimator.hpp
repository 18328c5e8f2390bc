// SPDX-License-Identifier: Apache-2.0
// The estimator: least squares of step time on the work shares of the treatments, and what long steps cost beyond that.
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

// Time shares of these steps, x treatments. labels[slot] is the treatment of a slot.
Eigen::MatrixXd time_shares(const StepOverlaps& shares, std::span<const Eigen::Index> steps,
                            std::span<const std::size_t> labels, std::size_t treatments);

// w_k = (x_k / m_k) / sum_j (x_j / m_j): the share of a step's work done under treatment k, where x is time and m the
// treatment's mean step. With time shares alone a true 100 % comes out as 98 %: docs/statistics.md, rule 3.
Eigen::MatrixXd work_shares(const Eigen::MatrixXd& time_shares, const Eigen::VectorXd& mean_ms);

// A weighted sum of treatments, and of what noises leave in the slot after them: if given, means are those of Lasting.
struct Combination {
    Eigen::VectorXd treatments;
    Eigen::VectorXd carried{};    // [noise], or empty
    bool strata_met = false;      // of strata: Fit::strata_met
    bool strata_counted = false;  // of strata: as frequent under each noise as they were

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

// Adds to a contrast the carry-over of its noises, which would run all the time: of `lasting` noises, or of all. Once
// one lasts, the means after a slot without noise serve for every contrast: plain means hold its remains. Nothing is
// added where the order of slots does not separate it from effects.
Combination combination(const Fit& fit, const Eigen::VectorXd& weights, const std::vector<Assigned>& lasting);
Combination with_carry_over(const Fit& fit, const Eigen::VectorXd& weights);

// A measure under such a sum, in ms.
struct Estimate {
    double value = 0.0;
    Eigen::VectorXd influence;        // [block]: of ordinary steps; sums to zero, nearly
    double variance = 0.0;            // of the strata
    double degrees_of_freedom = 0.0;  // of that
    bool lacks_a_stratum = false;     // a treatment with weight began none of its steps, so that it does not count
};
Estimate estimate(const Fit& fit, const Combination& weights, Eigen::Index measure, bool with_accidents);

// A contrast in percent of the quiet mean step; both share the blocks' drift, so the spread is that of difference -
// ratio x quiet, not of the difference alone (the usual standard error of a ratio).
Mean percent_of_quiet(const Fit& fit, const Combination& weights, Eigen::Index measure, bool with_accidents);
// [block]: what the block moves it by, times the number of blocks; strata not included.
Eigen::VectorXd percent_influence(const Fit& fit, const Combination& weights, Eigen::Index measure,
                                  bool with_accidents);

double quiet_step_ms(const Fit& fit, bool with_accidents);

// Throws Error where a treatment has no step at all.
//
// One means model with a mean of its own for each block, so that the steps of a block are compared with one another. A
// slot lasts a fixed time: where the length of steps changes in a run and a noise slows the short ones, pooled means
// would hold fewer of those beside the noise (13.6 % for a true 9 %). Blocks count by their steps, not alike: when
// steps happen to be slow fewer of them fit into a slot.
Fit fit(const Series& series, const StepsOf& steps);

}  // namespace analysis
