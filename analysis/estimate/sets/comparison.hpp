// SPDX-License-Identifier: Apache-2.0
// Compares sets of runs, quiet against noisy. The run is the unit: steps within a run are no independent evidence.
#pragma once

#include "analysis/estimate/effects.hpp"
#include "analysis/estimate/sets/resilience.hpp"
#include "analysis/estimate/sets/two_samples.hpp"
#include "analysis/input/run_steps.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace analysis {

struct PhaseComparison {
    std::string phase;  // "step", a phase, a part or a region of own work
    int rank = all_ranks;
    double quiet_ms = 0.0;
    double noisy_ms = 0.0;
    double percent = 0.0;  // in percent of the mean quiet step
    Interval interval;
    double p_welch = 1.0;
    double p_holm = 1.0;          // of p_welch, over step and phases of the job and of each rank
    double p_bh = 1.0;            // p_welch after Benjamini and Hochberg's correction
    double p_mann_whitney = 1.0;  // exact without ties
    double shift_percent = 0.0;   // by Hodges and Lehmann: the median of the differences of all pairs of runs
    double floor_percent = 0.0;   // A/A floor: see Comparison::floor_percent
};

struct Comparison {
    base::LongColumn<std::int64_t> numbers;  // numbers of the steps that all runs have, after warm-up
    std::string aligned_by;                  // result of align(), such as "their numbers"
    std::vector<double> quiet_means_ms;      // [run]
    std::vector<double> noisy_means_ms;
    base::LongColumn<double> quiet_by_step_ms;  // [step]: mean over runs
    base::LongColumn<double> noisy_by_step_ms;
    std::vector<PhaseComparison> phases;   // of the job; the step first
    std::vector<PhaseComparison> by_rank;  // of each rank, if there are several
    std::vector<PhaseComparison> parts;    // parts of each rank's step, see Part; in percent of the job's quiet step
    std::vector<PhaseComparison> own;      // of each rank: own work by region
    std::vector<Resilience> resilience;    // [phase]
    std::vector<std::optional<double>> cpu_percent;  // [rank]: growth of the rank's CPU time per step
    double confidence = 0.95;

    // The A/A floor: half width, in percent of a step, that quiet against quiet would have with as many runs. These
    // runs cannot show an effect below it.
    double floor_percent = 0.0;
};

// Steps are aligned, see align(); only steps that every run has count. Effect on the step: difference of the logarithms
// of the runs' mean steps, with Welch's t. Effect on a phase: difference of the runs' means over the mean quiet step,
// with Welch's t (phases may take no time at all, so no logarithm). Why: docs/statistics.md, "Sets of runs". Throws
// UsageError for fewer than two runs per side, Error if the runs have no step in common after the warm-up.
Comparison compare(std::vector<RunSteps> quiet, std::vector<RunSteps> noisy, std::int64_t warm_up_steps,
                   double confidence);

}  // namespace analysis
