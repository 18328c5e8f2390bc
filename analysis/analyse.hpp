// The analysis of one designed run: exposure, outliers, effects. Everything between reading and reporting.
#pragma once

#include "analysis/chips.hpp"
#include "analysis/effects.hpp"
#include "analysis/exposure.hpp"
#include "analysis/outliers.hpp"
#include "analysis/steps.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace analysis {

// What is known of a run beside its steps.
struct DesignedRun {
    StepTable steps;
    std::vector<std::vector<Chip>> chips;  // [rank]: the job's chip table on the clock of the rank's node
    Experiment plan;
    std::vector<std::vector<Stretch>> stopped;  // [rank]: when control.pause held its processes stopped, same clock
    bool computes_while_stopped = false;        // as on a GPU: a pause then costs less than its length

    // Measures of the job's steps that are no phases (see Training::extra_ms): steps x names, in ms.
    Eigen::MatrixXd extra_ms;
    std::vector<std::string> extra_names;
};

struct Rules {
    ExposureRules exposure{};
    Draws draws{};
    bool by_rank = true;  // effects for each rank too
};

struct OutlierRate {
    std::string factor;
    std::string level;
    double percent_of_steps = 0.0;
    double percent_of_time = 0.0;
    double p = 1.0;  // that it differs from quiet by chance
};

struct Analysis {
    Exposures exposures;  // with outliers and steps of incomplete blocks left out
    Outliers outliers;
    int blocks = 0;          // that hold every treatment
    int dropped_blocks = 0;  // that lack one
    double quiet_step_ms = 0.0;
    std::vector<Effect> effects;             // step and phases, job first, then each rank; p_holm set
    std::vector<Effect> extra_effects;       // of the extra measures, and of the median step; job only
    std::vector<OutlierRate> outlier_rates;  // quiet first
    std::map<LeftOut, std::size_t> counts;   // steps by why they were left out; LeftOut::no: used
    double covered_share = 0.0;              // of the training's time after warm-up, on the rank with the least
};

// Throws Error if the run allows no estimate: no step covered, or fewer than two complete blocks.
Analysis analyse(const DesignedRun& run, const Rules& rules);

}  // namespace analysis
