// SPDX-License-Identifier: Apache-2.0
// The analysis of one designed run, between reading and reporting: exposure, long steps, carry-over, effects.
#pragma once

#include "analysis/estimate/assigned/accidents.hpp"
#include "analysis/estimate/assigned/exposure.hpp"
#include "analysis/estimate/assigned/long_steps.hpp"
#include "analysis/estimate/carry_over.hpp"
#include "analysis/estimate/effects.hpp"
#include "analysis/estimate/shared_state.hpp"
#include "analysis/input/designed_run.hpp"
#include "base/error.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace analysis {

// Thrown where a run is too short for any interval; it may still be pooled with other runs.
class TooShort : public base::Error {
 public:
    using base::Error::Error;
};

struct Rules {
    ExposureRules exposure{};
    Draws draws{};
    bool by_rank = true;        // also compute effects for each rank
    Looks looks = Looks::none;  // whether the run was checked repeatedly while it ran
};

struct Analysis {
    Exposures exposures;
    LongSteps long_steps;
    std::vector<CarryOver> carry_over;
    std::optional<SharedState> shared_state;
    int blocks = 0;         // number of complete blocks
    double blocks_s = 0.0;  // time that they last
    // Number of blocks that the training's end cuts off, or that lack a treatment of the schedule.
    int dropped_blocks = 0;
    double quiet_step_ms = 0.0;
    EffectTable effects;                       // with p_holm
    std::vector<AccidentRate> accident_rates;  // quiet first, then each single factor
    // Number of steps by the reason why they, or a part of them, are left out; LeftOut::no: used.
    std::map<LeftOut, std::size_t> counts;
    // Share of the training's time after warm-up that slots cover, on the rank with the smallest share. Up to 10 s
    // before the noise begins do not count: noisegen starts while the training runs, and may measure its step first.
    double covered_share = 0.0;
};

inline constexpr const char* step_with_outliers = "step with outliers";
inline constexpr const char* step_without_outliers = "step without outliers";

// Throws Error if the run allows no estimate: no covered step, fewer than two complete blocks, or steps too long for
// the slots.
Analysis analyse(const DesignedRun& run, const Rules& rules);

// True if the step is an accident whose time beyond that of ordinary steps counts in no effect.
bool is_set_aside(const Analysis& analysis, const Experiment& plan, std::size_t step);

// The used steps, and the job's time series over them: the input of every estimate. Both refer to run and analysis.
StepsOf steps_of(const DesignedRun& run, const Analysis& analysis);
Series job_series(const DesignedRun& run, const Analysis& analysis, const Measures& measures,
                  std::vector<std::string> names);
Series rank_series(const DesignedRun& run, const Analysis& analysis, std::size_t rank, const Measures& measures,
                   std::vector<std::string> names);

}  // namespace analysis
