// SPDX-License-Identifier: Apache-2.0
// The steps of a run as the estimator sees them, and what it makes of them.
#pragma once

#include "analysis/estimate/assigned/exposure.hpp"
#include "analysis/estimate/assigned/long_steps.hpp"
#include "analysis/estimate/inference.hpp"
#include "analysis/estimate/strata.hpp"

#include <Eigen/Dense>

#include <optional>
#include <string>
#include <vector>

namespace analysis {

// One rank's times, or the job's.
struct Series {
    int rank = -1;
    StepOverlaps shares;  // of the ordinary part of each step: see shared_among()
    Measures measures;    // of each step, by names; the step itself is the first
    std::vector<std::string> names;
};

// The steps of a run as the estimator sees them. What it refers to must outlive it.
struct StepsOf {
    const Experiment& plan;
    const Exposures& exposures;
    const LongSteps& long_steps;
    base::LongColumn<int> block;      // [step]; -1: not used
    std::vector<Assigned> lasting{};  // noises of which something is left in the next slot: it is part of their effect
    std::vector<Assigned> surely_lasting{};  // those of which that is beyond doubt
    std::vector<int> windows{};              // [noise]: how many slots it may last, see Lasting; empty: one each
};

// A block's part of the normal equations, and the time of its accidents.
struct BlockSums {
    int block = 0;
    Eigen::MatrixXd gram;       // treatments x treatments: products of work shares
    Eigen::MatrixXd time;       // treatments x measures: products of work shares and measures; of ordinary steps
    Eigen::MatrixXd accidents;  // treatments x measures: beyond an ordinary step, by where the step begins
    // Treatments x measures: what the block moves the means by, times the number of blocks; by the delete-a-block
    // jackknife, whose variance is not too small with few blocks.
    Eigen::MatrixXd influence;
};

// Means that let the noise of a slot last into the next ones: least squares of step time on the slot's treatment and on
// the noises of the slots before (additive carry-over, as in a crossover trial: Jones and Kenward, Design and Analysis
// of Cross-Over Trials; of several slots alike, so that one number says what is left of a noise that is on all the
// time), with a mean of its own for each block, which takes the drift.
struct Lasting {
    std::vector<Assigned> noises;
    Eigen::MatrixXd of_treatment;            // treatments x noises: 1 where the treatment has the noise
    Eigen::MatrixXd mean_ms;                 // treatments x measures: of ordinary steps, after slots without noise
    Eigen::MatrixXd carried_ms;              // noises x measures: how much longer a step is after slots all with it
    std::vector<Eigen::MatrixXd> influence;  // [block]: of both, one above the other; by the delete-a-block jackknife
};

// A run's means. Nothing of the used steps is left out: ordinary steps, what strata take beyond them and accidents add
// up to their time.
struct Fit {
    std::vector<BlockSums> blocks;  // with used steps
    Eigen::MatrixXd mean_ms;        // treatments x measures: of ordinary steps
    Eigen::VectorXd work;           // [treatment]: steps' worth of work
    std::vector<StratumSums> strata;
    std::vector<StratumSums>
        strata_met;                    // the same, steps longer than a fiftieth of a slot shared among what they meet
    Eigen::MatrixXd accidents;         // treatments x measures: their time
    Eigen::MatrixXd accident_squares;  // likewise: the larger of its variance as Poisson events, and over blocks
    Eigen::VectorXd largest_accident;  // [treatment]: of the step, that it had or could have had, for steps without
                                       // noise have such
    std::optional<Lasting> lasting;    // none if the order of slots does not separate it from effects
    Eigen::Index treatments() const { return mean_ms.rows(); }
};

// How much a step counts in least squares: one that crosses the border of two slots a quarter. Where in a step a noise
// acts is not known (at its end, in the time between steps), so the work shares of a crossing step are an assumption:
// with full weight a slowdown of 16.7 % between steps came out 0.14 points too low, without them intervals are a tenth
// wider. Long steps cross more often than short ones, so borders of slots with the same treatment count likewise.
inline double weight_of(const Exposures& exposures, std::size_t step)
{
    return exposures.crosses[step] != 0 ? 0.25 : 1.0;
}

}  // namespace analysis
