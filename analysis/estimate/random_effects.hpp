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
    // Over all runs of the design; its interval is Hartung and Knapp's, with runs - 1 degrees of freedom.
    Mean mean;
    // tau: standard deviation of the true effect between runs, by Paule and Mandel (1982), who choose it so that the
    // weighted squares equal their expectation.
    double between = 0.0;
    std::vector<double> weights;  // [run]: weight in the mean; they sum to 1
};

// Pools two or more runs. The standard error of a run lacks what changes between runs. The interval is the plain one of
// Hartung and Knapp (2001): it may be narrower than that of a model with equal effects.
RandomEffects random_effects(std::span<const Mean> runs);

// Interval of the true effect in one more run; none with fewer than three runs. It allows for the uncertain variance
// between runs: given the true variance, the weighted squares are chi-squared with runs - 1 degrees of freedom (the Q
// profile of Viechtbauer 2007), so each quantile of that distribution gives a variance, and with it a normal
// distribution of the effect. The interval is that of the mixture of these distributions (Nagashima, Noma and Furukawa
// 2019). If runs have no errors of their own, it equals Student's t interval of one more value.
std::optional<Interval> prediction(std::span<const Mean> runs, double confidence);

// Mean of two or more runs with given weights, which sum to 1. Its interval follows from the differences between runs,
// as in random_effects(). With equal weights for a quantity and its parts, the means of the parts add up to the mean.
Mean mean_of_runs(std::span<const Mean> runs, std::span<const double> weights);

// Mean of the estimates of parts with fixed weights. Each part has its own blocks. The parts are strata: differences
// between them are not in the error. Degrees of freedom by Welch and Satterthwaite.
Mean strata_mean(std::span<const Mean> parts, std::span<const double> weights);
// The looks at all parts together.
Looks looks_together(std::span<const Looks> parts);

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
