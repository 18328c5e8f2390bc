// SPDX-License-Identifier: Apache-2.0
// The input of the estimator, a run's steps, and its result, their means.
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

// Times of one rank, or of the job.
struct Series {
    int rank = -1;
    StepOverlaps shares;  // shares of each step's ordinary part: see shared_among()
    Measures measures;    // measures of each step, in the order of `names`; the first is the step itself
    std::vector<std::string> names;
};

// The used steps of a run and what is known about each. The objects that it refers to must outlive it.
struct StepsOf {
    const Experiment& plan;
    const Exposures& exposures;
    const LongSteps& long_steps;
    base::LongColumn<int> block;             // [step]: its block; -1 if it is not used
    std::vector<Assigned> lasting{};         // noises with carry-over, which is part of their effect
    std::vector<Assigned> surely_lasting{};  // noises whose carry-over is beyond doubt
    // [noise]: number of slots that it may last, see Lasting; empty: one slot each.
    std::vector<int> windows{};
};

// A block's share of the normal equations, and its long steps' excess time.
struct BlockSums {
    int block = 0;
    Eigen::MatrixXd gram;  // treatments x treatments: products of work shares
    Eigen::MatrixXd time;  // treatments x measures: products of work shares and measures, for ordinary steps
    // Treatments x measures: accidents' time beyond an ordinary step, by the treatment in which the step begins.
    Eigen::MatrixXd accidents;
    // Treatments x measures: the block's influence on the means, times the number of blocks, by the delete-a-block
    // jackknife, whose variance is not too small with few blocks.
    Eigen::MatrixXd influence;
};

// Means with carry-over: least squares of step time on the slot's treatment and on the noises of the slots before
// (additive carry-over, as in a crossover trial: Jones and Kenward, Design and Analysis of Cross-Over Trials), with a
// mean for each block, which takes the drift. All slots of a window count the same, so that one number is the
// carry-over of a noise that is on all the time.
struct Lasting {
    std::vector<Assigned> noises;
    Eigen::MatrixXd of_treatment;  // treatments x noises: 1 where the treatment has the noise
    Eigen::MatrixXd mean_ms;       // treatments x measures: mean ordinary step after slots without noise
    // Noises x measures: how much longer a step is if all slots of the window had the noise.
    Eigen::MatrixXd carried_ms;
    // [block]: influence on mean_ms (rows first), then on carried_ms; by the delete-a-block jackknife.
    std::vector<Eigen::MatrixXd> influence;
};

// The means of a run. All time of the used steps counts: ordinary parts, the strata's excess and accidents add up to
// it.
struct Fit {
    std::vector<BlockSums> blocks;  // blocks with used steps
    Eigen::MatrixXd mean_ms;        // treatments x measures: mean of ordinary steps
    Eigen::VectorXd work;           // [treatment]: work, in steps
    std::vector<StratumSums> strata;
    // The same, but steps longer than a fiftieth of a slot are shared among the treatments under which they ran.
    std::vector<StratumSums> strata_met;
    Eigen::MatrixXd accidents;  // treatments x measures: time of accidents
    // Treatments x measures: variance of that time, the larger of Poisson's and that over blocks.
    Eigen::MatrixXd accident_squares;
    // [treatment]: largest accident of the step measure; without one, the largest in steps without noise.
    Eigen::VectorXd largest_accident;
    std::optional<Lasting> lasting;  // none if the order of slots does not separate carry-over from effects
    Eigen::Index treatments() const { return mean_ms.rows(); }
};

// Weight of a step in least squares: a quarter if it crosses the border of two slots. Where in a step a noise acts is
// not known (at its end, in the time between steps), so the work shares of a crossing step are an assumption: with full
// weight a slowdown of 16.7 % between steps came out 0.14 points too low; without these steps intervals are a tenth
// wider. Long steps cross more often than short ones, so borders between slots of the same treatment count too.
inline double weight_of(const Exposures& exposures, std::size_t step)
{
    return exposures.crosses[step] != 0 ? 0.25 : 1.0;
}

}  // namespace analysis
