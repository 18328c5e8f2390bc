// Several estimates of one effect taken together: runs as random draws, or the parts of one run as they are.
#pragma once

#include "analysis/estimate/inference.hpp"

#include <optional>
#include <span>

namespace analysis {

// What runs of one design say of an effect that may differ from run to run.
struct RandomEffects {
    Mean mean;             // over all such runs; its interval is Hartung and Knapp's, with runs - 1 degrees of freedom
    double between = 0.0;  // tau: standard deviation of the true effect from run to run, by Paule and Mandel

    // Where the true effect of one more run would lie (Higgins, Thompson, Spiegelhalter 2009: Student's t with runs - 2
    // degrees of freedom). None of fewer than three runs.
    std::optional<Interval> prediction(double confidence) const;
};

// Each run with its own standard error, which holds nothing of what changes between runs. Two runs or more. The
// interval is the plain one of Hartung and Knapp (2001): it is not kept from being narrower than that of equal effects.
RandomEffects random_effects(std::span<const Mean> runs);

// Mean with fixed weights of the estimates of parts, each with blocks of its own: the parts are strata, so what differs
// between them is in the mean but not in its error. Degrees of freedom by Welch and Satterthwaite.
Mean strata_mean(std::span<const Mean> parts, std::span<const double> weights);

// Welch's test (1951) that estimates with errors of their own have one true value: its p-value. 1 for a single one.
double p_alike(std::span<const Mean> estimates);

}  // namespace analysis
