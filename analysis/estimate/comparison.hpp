// Sets of runs compared, quiet against noisy. The run is the unit: steps within a run are no independent evidence.
#pragma once

#include "analysis/estimate/inference.hpp"
#include "analysis/input/run_steps.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace analysis {

struct PhaseComparison {
    std::string phase;  // "step" or a phase
    double quiet_ms = 0.0;
    double noisy_ms = 0.0;
    double percent = 0.0;  // of the quiet mean step
    Interval interval;
    double p_welch = 1.0;
    double p_holm = 1.0;          // of p_welch, over step and phases
    double p_mann_whitney = 1.0;  // exact without ties
};

struct Comparison {
    std::vector<std::int64_t> numbers;   // steps that all runs have, after warm-up
    std::vector<double> quiet_means_ms;  // by run
    std::vector<double> noisy_means_ms;
    std::vector<double> quiet_by_step_ms;  // mean over runs of aligned steps
    std::vector<double> noisy_by_step_ms;
    std::vector<PhaseComparison> phases;  // step first
    double confidence = 0.95;

    // The A/A floor: the half width, in percent of a step, that quiet against quiet would have with as many runs. What
    // lies below it is nothing that these runs could show.
    double floor_percent = 0.0;
};

// Steps are aligned by their number; only numbers that every run has count. Of the step: difference of the logarithms
// of the runs' mean steps, Welch's t. Of a phase: difference of the runs' means over the quiet mean step, Welch's t
// (phases may take no time at all, so no logarithm). Why: docs/statistics.md, sets of runs. Throws UsageError
// for fewer than two runs on a side, Error if the runs have no step in common after the warm-up.
Comparison compare(const std::vector<RunSteps>& quiet, const std::vector<RunSteps>& noisy, std::int64_t warm_up_steps,
                   double confidence);

// Difference of two means of independent values with Welch's standard error and degrees of freedom.
Mean welch(const Eigen::VectorXd& from, const Eigen::VectorXd& to);

// Two-sided p-value of the Mann-Whitney U test: exact up to 20 values a side without ties, else the normal
// approximation.
double mann_whitney_p(const Eigen::VectorXd& a, const Eigen::VectorXd& b);

}  // namespace analysis
