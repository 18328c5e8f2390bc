// SPDX-License-Identifier: Apache-2.0
// Recurring long steps: the time that they take beyond ordinary ones.
#pragma once

#include "analysis/estimate/assigned/exposure.hpp"
#include "analysis/estimate/assigned/long_steps.hpp"

#include <Eigen/Dense>

#include <vector>

namespace analysis {

// The time of a stratum's steps beyond an ordinary step, by where they begin. Steps longer than slots are shared among
// the treatments that they meet, for each acts on its part.
struct StratumSums {
    std::vector<StratumShare> assumed;  // of each treatment: how many of its used steps belong to the stratum
    std::vector<StratumShare> counted;  // likewise, without the assumption that noise does not change it
    bool shared = false;                // among the treatments that its steps meet; else all of a step is of one
    Eigen::VectorXd count;              // [treatment]: steps, or the sum of their shares
    Eigen::MatrixXd sum;                // treatments x measures
    Eigen::MatrixXd squares;            // likewise
    Eigen::MatrixXd gram;               // treatments x treatments: products of shares

    // Steps that began in one slot. They may have more in common than its treatment.
    struct InSlot {
        std::size_t slot = 0;
        Eigen::Index treatment = 0;
        double count = 0.0;
        Eigen::RowVectorXd sum;  // measures
    };
    std::vector<InSlot> slots;  // unless the steps are shared

    // A step of one treatment, in order of slots.
    void add(std::size_t slot, Eigen::Index treatment, const Eigen::RowVectorXd& beyond);
    // A step, of which each treatment has a part; the parts add up to one.
    void add(const Eigen::VectorXd& part, const Eigen::RowVectorXd& beyond);
};

// A stratum without steps yet.
StratumSums no_sums(const StepStratum& stratum, const LongSteps& steps, Eigen::Index measures);

// A long step that may meet several treatments.
struct Straddling {
    Eigen::VectorXd time;       // [treatment]: its share of the step's time
    Eigen::RowVectorXd beyond;  // measures, beyond an ordinary step
};

// Shares of a step's time under each treatment. A control acts on steps that begin in its slot, which these need not:
// to them it is quiet, as is time without a slot.
Eigen::VectorXd met(const Overlaps& overlaps, const Experiment& plan);

// Each treatment's part in the work of the steps, from its part in their time, as of ordinary steps: work_shares().
// ordinary_ms: mean ordinary step by treatment.
StratumSums share_work(const StratumSums& none, const std::vector<Straddling>& steps,
                       const Eigen::VectorXd& ordinary_ms);

// A stratum's mean by treatment and its variance. A treatment with few of its steps has at least the spread of all.
// Where the steps of a slot are alike, slots are what is independent.
struct StratumMean {
    Eigen::VectorXd mean;      // [treatment]
    Eigen::VectorXd variance;  // of the mean
    double degrees_of_freedom = 1.0;
    double residual_variance = 0.0;  // of a step around the means
};

StratumMean mean_of(const StratumSums& stratum, Eigen::Index measure);

// The sums that explain more of how long the steps of a stratum take that are longer than slots. A noise may act on a
// step as long as both last, or on all of it by how it begins (a checkpoint that is written twice).
const StratumSums& that_explains_more(const StratumSums& by_begin, const StratumSums& met);

}  // namespace analysis
