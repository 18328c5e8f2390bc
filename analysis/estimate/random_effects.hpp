// SPDX-License-Identifier: Apache-2.0
// Pools several estimates of one effect: runs as random draws, or the parts of one run as strata.
#pragma once

#include "analysis/estimate/inference.hpp"

#include <optional>
#include <span>
#include <vector>

namespace analysis {

// An effect that may differ between runs of one design.
struct RandomEffects {
    Mean mean;             // over all runs of the design; its interval is Hartung and Knapp's, with runs - 1 degrees of
                           // freedom
    double between = 0.0;  // tau: standard deviation of the true effect between runs, by Paule and Mandel (1982): the
                           // value at which the weighted squares equal their expectation
    std::vector<double> weights;  // [run]: weight in the mean; they sum to 1
};

// Pools two or more runs. The standard error of a run lacks what changes between runs. The interval is the plain one of
// Hartung and Knapp (2001): it may be narrower than that of a model with equal effects.
RandomEffects random_effects(std::span<const Mean> runs);

// Interval of the true effect of one more run; none with fewer than three runs. The variance between runs is uncertain:
// at the true variance, the weighted squares are chi-squared with runs - 1 degrees of freedom (Viechtbauer 2007: Q
// profile). So each quantile of that distribution gives a variance, and with it a normal distribution of one more run
// around the mean. The interval is that of the mixture of these, as Nagashima, Noma and Furukawa (2019) draw it. If
// runs have no errors of their own, it is Student's t interval of one more value.
std::optional<Interval> prediction(std::span<const Mean> runs, double confidence);

// Mean of two or more runs with given weights, which sum to 1; its interval, as that of random_effects(), is from how
// the runs differ. With the weights of one quantity, the means of its parts add up to its mean.
Mean mean_of_runs(std::span<const Mean> runs, std::span<const double> weights);

// Mean of the estimates of parts with fixed weights. Each part has its own blocks. The parts are strata: differences
// between them are not in the error. Degrees of freedom by Welch and Satterthwaite.
Mean strata_mean(std::span<const Mean> parts, std::span<const double> weights);

// An effect pooled over runs and their parts: parts are strata of their run, runs are random draws.
struct TakenTogether {
    Mean mean;                             // over all runs
    std::vector<Mean> runs;                // [run]: mean over its parts
    std::optional<RandomEffects> between;  // with several runs
};

// parts: [run][part]. weights: [run][part], the time of the part's blocks.
TakenTogether take_together(const std::vector<std::vector<Mean>>& parts,
                            const std::vector<std::vector<double>>& weights);

// p-value of Welch's test (1951) that estimates, each with its own error, have one true value. 1 for a single estimate.
double p_alike(std::span<const Mean> estimates);

}  // namespace analysis
