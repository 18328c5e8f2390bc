// SPDX-License-Identifier: Apache-2.0
// Several estimates of one effect taken together: runs as random draws, or the parts of one run as they are.
#pragma once

#include "analysis/estimate/inference.hpp"

#include <optional>
#include <span>
#include <vector>

namespace analysis {

// An effect that may differ between runs of one design.
struct RandomEffects {
    Mean mean;             // over all such runs; its interval is Hartung and Knapp's, with runs - 1 degrees of freedom
    double between = 0.0;  // tau: standard deviation of the true effect from run to run, by Paule and Mandel (1982):
                           // that with which the weighted squares are what is expected of them
    std::vector<double> weights;  // [run]: share of each in the mean; they sum to 1
};

// Each run with its own standard error, which holds nothing of what changes between runs. Two runs or more. The
// interval is the plain one of Hartung and Knapp (2001): it is not kept from being narrower than that of equal effects.
RandomEffects random_effects(std::span<const Mean> runs);

// Where the true effect of one more run would lie; none of fewer than three runs. The variance between runs is as
// uncertain as the weighted squares make it, which are chi-squared with runs - 1 degrees of freedom whatever it is
// (Viechtbauer 2007: Q profile): each place of their distribution gives a variance, and with it a normal distribution
// of the mean and of one more run around it. The interval is of the mixture of these, as Nagashima, Noma and Furukawa
// (2019) draw it: of runs without errors of their own it is Student's t interval of one more value.
std::optional<Interval> prediction(std::span<const Mean> runs, double confidence);

// Mean of runs with given weights, which sum to 1; its interval as that of random_effects(), from how the runs differ.
// With the weights of one quantity, the means of its parts add up to its mean. Two runs or more.
Mean mean_of_runs(std::span<const Mean> runs, std::span<const double> weights);

// Mean with fixed weights of the estimates of parts, each with blocks of its own: the parts are strata, so what differs
// between them is in the mean but not in its error. Degrees of freedom by Welch and Satterthwaite.
Mean strata_mean(std::span<const Mean> parts, std::span<const double> weights);

// Estimates of one effect by the parts of runs, taken together: parts are strata of their run, runs are random draws.
struct TakenTogether {
    Mean mean;                             // of all
    std::vector<Mean> runs;                // [run]: over its parts
    std::optional<RandomEffects> between;  // of several runs
};

// [run][part], and what each part weighs in its run: its blocks.
TakenTogether take_together(const std::vector<std::vector<Mean>>& parts,
                            const std::vector<std::vector<double>>& weights);

// Welch's test (1951) that estimates with errors of their own have one true value: its p-value. 1 for a single one.
double p_alike(std::span<const Mean> estimates);

}  // namespace analysis
