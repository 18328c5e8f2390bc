// The analysis of one designed run: exposure, outliers, effects. Everything between reading and reporting.
#pragma once

#include "analysis/estimate/effects.hpp"
#include "analysis/estimate/exposure.hpp"
#include "analysis/estimate/outliers.hpp"
#include "analysis/input/designed_run.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace analysis {

struct Rules {
    ExposureRules exposure{};
    Draws draws{};
    bool by_rank = true;  // effects for each rank too
    bool looked = false;  // the run may have been ended at a look: intervals and p-values are to hold at all of them
};

struct OutlierRate {
    std::string factor;
    std::string level;
    double percent_of_steps = 0.0;
    double percent_of_time = 0.0;
    double p = 1.0;                // that it differs from quiet by chance
    bool more_than_quiet = false;  // of a noise: at 99 %
    // They are no accident, but the noise's: its effects are estimated with all outliers, those under quiet too.
    bool counted = false;
};

struct Analysis {
    Exposures exposures;  // with outliers and steps of incomplete blocks left out
    Outliers outliers;
    int blocks = 0;          // that hold every treatment
    int dropped_blocks = 0;  // that lack one
    double quiet_step_ms = 0.0;
    std::vector<Effect> effects;             // step and phases, job first, then each rank; p_holm set
    std::vector<Effect> part_effects;        // of the parts of each rank's step; `phase` is one of part_names
    std::vector<Effect> own_effects;         // of own work of each rank; `phase` is one of Work::regions
    std::vector<Effect> extra_effects;       // of the extra measures, of the median step and of the next two; job only
    std::vector<Effect> gpu_effects;         // of the measures of GPUs; job only
    std::vector<OutlierRate> outlier_rates;  // quiet first
    std::map<LeftOut, std::size_t> counts;   // steps by why they were left out; LeftOut::no: used
    // Of the training's time after warm-up, on the rank with the least. Up to 10 s in which noise had not begun do not
    // count: it is started beside the training, and may measure its step first.
    double covered_share = 0.0;
};

inline constexpr const char* step_with_outliers = "step with outliers";
inline constexpr const char* step_without_outliers = "step without outliers";

// Throws Error if the run allows no estimate: no step covered, or fewer than two complete blocks.
Analysis analyse(const DesignedRun& run, const Rules& rules);

}  // namespace analysis
