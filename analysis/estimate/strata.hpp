// SPDX-License-Identifier: Apache-2.0
// The time of recurring long steps beyond ordinary steps.
#pragma once

#include "analysis/estimate/assigned/exposure.hpp"
#include "analysis/estimate/assigned/long_steps.hpp"

#include <Eigen/Dense>

#include <vector>

namespace analysis {

// The time of a stratum's steps beyond an ordinary step, by the treatment in which they begin. Steps longer than slots
// are shared among the treatments under which they ran, because each acts on its part.
struct StratumSums {
    // Shares of the used steps that belong to the stratum; see settle_shares().
    std::vector<StratumShare> assumed;  // one common share, except where a noise's own differs significantly
    std::vector<StratumShare> counted;  // each noise's own share
    // True: a step counts for all treatments under which it ran; false: for the one in which it begins.
    bool shared = false;
    Eigen::VectorXd count;    // [treatment]: number of steps, or sum of their shares
    Eigen::MatrixXd sum;      // treatments x measures: sum of the excess times
    Eigen::MatrixXd squares;  // treatments x measures: sum of their squares
    Eigen::MatrixXd gram;     // treatments x treatments: products of shares

    // Steps that began in one slot. They may have more in common than their treatment.
    struct InSlot {
        std::size_t slot = 0;
        Eigen::Index treatment = 0;
        double count = 0.0;
        Eigen::RowVectorXd sum;  // [measure]
    };
    std::vector<InSlot> slots;  // empty if steps are shared

    // Adds a step of one treatment; called in order of slots.
    void add(std::size_t slot, Eigen::Index treatment, const Eigen::RowVectorXd& beyond);
    // Adds a step that is divided among treatments; the parts add up to one.
    void add(const Eigen::VectorXd& part, const Eigen::RowVectorXd& beyond);
};

// A stratum without steps yet.
StratumSums no_sums(const StepStratum& stratum, const LongSteps& steps, Eigen::Index measures);

// A long step that may run under several treatments.
struct Straddling {
    Eigen::VectorXd time;       // [treatment]: share of the step's time
    Eigen::RowVectorXd beyond;  // [measure]: time beyond an ordinary step
};

// Share of a step's time under each treatment. A control acts only on steps that begin in its slot; for a step that
// began earlier, its slot counts as quiet, as does time outside of slots.
Eigen::VectorXd met(const Overlaps& overlaps, const Experiment& plan);

// Divides the work of the steps among treatments, from the time shares, as work_shares() does for ordinary steps.
// ordinary_ms: [treatment], mean ordinary step.
StratumSums share_work(const StratumSums& none, const std::vector<Straddling>& steps,
                       const Eigen::VectorXd& ordinary_ms);

// A stratum's mean by treatment and its variance. A treatment with few steps of the stratum has at least the pooled
// spread. Where the steps of a slot are alike, slots are the independent units.
struct StratumMean {
    Eigen::VectorXd mean;      // [treatment]
    Eigen::VectorXd variance;  // variance of the mean
    double degrees_of_freedom = 1.0;
    double residual_variance = 0.0;  // variance of a step around the means
};

StratumMean mean_of(const StratumSums& stratum, Eigen::Index measure);

// The sums that better explain the times of a stratum whose steps are longer than slots. A noise may act on a step
// while both last, or on the whole step by how it begins (a checkpoint that is written twice).
const StratumSums& that_explains_more(const StratumSums& by_begin, const StratumSums& met);

}  // namespace analysis
