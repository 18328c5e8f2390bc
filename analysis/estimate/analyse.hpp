// SPDX-License-Identifier: Apache-2.0
// The analysis of one designed run: exposure, long steps, carry-over, effects. Everything between reading and
// reporting.
#pragma once

#include "analysis/estimate/assigned/accidents.hpp"
#include "analysis/estimate/assigned/exposure.hpp"
#include "analysis/estimate/assigned/long_steps.hpp"
#include "analysis/estimate/carry_over.hpp"
#include "analysis/estimate/effects.hpp"
#include "analysis/input/designed_run.hpp"
#include "base/error.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace analysis {

// Thrown where a run is too short for any interval; with others it may still be pooled.
class TooShort : public base::Error {
 public:
    using base::Error::Error;
};

struct Rules {
    ExposureRules exposure{};
    Draws draws{};
    bool by_rank = true;  // effects for each rank too
    bool looked = false;  // the run may have been ended at a look: intervals and p-values are to hold at all of them
};

struct Analysis {
    Exposures exposures;
    LongSteps long_steps;
    std::vector<CarryOver> carry_over;
    int blocks = 0;          // whole ones
    int dropped_blocks = 0;  // that are cut off by an end of the training, or lack a treatment by the schedule
    double quiet_step_ms = 0.0;
    EffectTable effects;                       // p_holm set
    std::vector<AccidentRate> accident_rates;  // quiet first
    std::map<LeftOut, std::size_t> counts;     // steps by why they, or a part of them, are left out; LeftOut::no: used
    // Share of the training's time after warm-up, on the rank with the least. Up to 10 s in which noise had not begun
    // do not count: it is started beside the training, and may measure its step first.
    double covered_share = 0.0;
};

inline constexpr const char* step_with_outliers = "step with outliers";
inline constexpr const char* step_without_outliers = "step without outliers";

// Throws Error if the run allows no estimate: no step covered, fewer than two whole blocks, or steps too long for
// slots.
Analysis analyse(const DesignedRun& run, const Rules& rules);

// Is the step an accident whose time beyond that of ordinary steps is in no effect?
bool is_set_aside(const Analysis& analysis, const Experiment& plan, std::size_t step);

// The steps that the analysis used, and the job's series of them: what every estimate is made from. They refer to run
// and analysis.
StepsOf steps_of(const DesignedRun& run, const Analysis& analysis);
Series job_series(const DesignedRun& run, const Analysis& analysis, const Measures& measures,
                  std::vector<std::string> names);
Series rank_series(const DesignedRun& run, const Analysis& analysis, std::size_t rank, const Measures& measures,
                   std::vector<std::string> names);

}  // namespace analysis
