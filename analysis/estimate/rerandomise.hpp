// SPDX-License-Identifier: Apache-2.0
// The re-randomisation test: had the design drawn another order of treatments, how often would the effect be as large?
#pragma once

#include "analysis/estimate/contrasts.hpp"
#include "analysis/estimate/estimator.hpp"

#include <Eigen/Dense>

#include <cstdint>
#include <span>

namespace analysis {

struct Draws {
    int count = 9999;
    std::uint64_t seed = 1;
};

// Two-sided p-value of a contrast for each measure. Within each block, labels of treatments that would be equal under
// the null hypothesis are exchanged as the design could have drawn them. The statistic is the time per step that the
// slots took beyond what the null hypothesis expects of their steps, with the factor against without it. The test is
// valid for one factor's null hypothesis whatever the effects of the others.
Eigen::VectorXd rerandomised_p(const Contrast& contrast, const Fit& fit, const Series& series, const StepsOf& steps,
                               bool with_accidents, const Draws& draws);

// The smallest p-value that the test can give; zero where nothing limits it.
struct Smallest {
    double by_draws = 0.0;
    double by_blocks = 0.0;  // if every order of every block were drawn
};
Smallest smallest_p(const Contrast& contrast, const Fit& fit, const Experiment& plan, const Draws& draws);

}  // namespace analysis
