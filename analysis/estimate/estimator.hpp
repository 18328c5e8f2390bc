// The estimator: least squares of step time on the work shares of the treatments, and what long steps cost beyond that.
#pragma once

#include "analysis/estimate/assigned/exposure.hpp"
#include "analysis/estimate/assigned/long_steps.hpp"
#include "analysis/estimate/inference.hpp"
#include "analysis/estimate/strata.hpp"

#include <Eigen/Dense>

#include <optional>
#include <span>
#include <string>
#include <utility>
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

// Of these steps, x treatments. labels[slot] is the treatment of a slot.
Eigen::MatrixXd time_shares(const StepOverlaps& shares, std::span<const Eigen::Index> steps,
                            std::span<const std::size_t> labels, std::size_t treatments);

// w_k = (x_k / m_k) / sum_j (x_j / m_j): the share of a step's work done under treatment k, where x is time and m the
// treatment's mean step. With time shares alone a true 100 % comes out as 98 %: docs/statistics.md, rule 3.
Eigen::MatrixXd work_shares(const Eigen::MatrixXd& time_shares, const Eigen::VectorXd& mean_ms);

// How much a step counts in least squares: one that crosses the border of two slots a quarter. Where in a step a noise
// acts is not known (at its end, in the time between steps), so the work shares of a crossing step are an assumption:
// with full weight a slowdown of 16.7 % between steps came out 0.14 points too low, without them intervals are a tenth
// wider. Long steps cross more often than short ones, so borders of slots with the same treatment count likewise.
inline double weight_of(const Exposures& exposures, std::size_t step)
{
    return exposures.crosses[step] != 0 ? 0.25 : 1.0;
}

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
    std::vector<StratumSums> strata_met;  // the same, steps longer than a fifth of a slot shared among what they meet
    Eigen::MatrixXd accidents;            // treatments x measures: their time
    Eigen::MatrixXd accident_squares;     // likewise: the larger of its variance as Poisson events, and over blocks
    Eigen::VectorXd largest_accident;     // [treatment]: of the step, that it had or could have had, for steps without
                                          // noise have such
    std::optional<Lasting> lasting;       // none if the order of slots does not separate it from effects
    Eigen::Index treatments() const { return mean_ms.rows(); }
};

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

// With what the noises of these treatments leave in the next slot, for they would run all the time: of the noises that
// last, or of all. Once one lasts, the means after a slot without noise serve for every contrast: plain means hold its
// remains. Nothing is added where the order of slots does not separate it from effects.
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
// One means model over all blocks, without intercept. Each block holds each treatment, so drift cancels. A slot lasts a
// fixed time, so when steps happen to be slow fewer of them fit in: means are total time by total work, not averages
// over blocks.
Fit fit(const Series& series, const StepsOf& steps);

}  // namespace analysis
