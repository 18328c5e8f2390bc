// SPDX-License-Identifier: Apache-2.0
// Computes how resilient each phase is to noise, by the scores of the NORC studies: deviation, susceptibility, relative
// resilience.
#pragma once

#include <Eigen/Dense>

#include <optional>
#include <string>
#include <vector>

namespace analysis {

// Means of a phase, by rank and run.
struct PhaseOfRuns {
    std::string phase;
    std::vector<Eigen::VectorXd> quiet;  // [rank][run]
    std::vector<Eigen::VectorXd> noisy;
};

// Measures of a phase, each rank weighted by its share of the phase's time:
//   deviation       mean over runs of 100 |value - mean| / mean
//   susceptibility  |mean noisy - mean quiet| / sqrt(variance noisy + variance quiet)
//   resilience      1 / ((1 + d/d_max) (1 + w s/s_max)), d the larger deviation, s the susceptibility, maxima over all
//                   phases, w = min(1, (s_min/s_max) / (d_min/d_max))
// A phase without time, or whose runs are all exactly equal, has no susceptibility and no resilience.
struct Resilience {
    std::string phase;
    double contribution = 0.0;  // share of the phases' quiet time, 0 to 1
    double deviation_quiet_percent = 0.0;
    double deviation_noisy_percent = 0.0;
    std::optional<double> susceptibility;
    std::optional<double> resilience;
    int place = 0;  // rank by resilience, 1: the most resilient; 0: none
};

std::vector<Resilience> resilience(const std::vector<PhaseOfRuns>& phases);

}  // namespace analysis
