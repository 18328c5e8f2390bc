// SPDX-License-Identifier: Apache-2.0
// Accidents under each noise: their number, their time, and whether that is the noise's doing.
#pragma once

#include "analysis/estimate/assigned/long_steps.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace analysis {

struct AccidentRate {
    std::string factor;
    std::string level;
    double percent_of_steps = 0.0;
    double percent_of_time = 0.0;  // their whole time
    double excess_percent = 0.0;   // their time beyond ordinary steps, of the time of ordinary steps
    double p = 1.0;                // that chance alone gives the noise so much more of it than quiet has
    bool charged = false;          // it counts as the noise's effect
    bool only_here = false;        // steps without noise have no accidents at all
    double unmet_one_in = 0.0;     // 1 in N: the rate of stalls that may have been missed (97.5 %); 0 with accidents
};

// Decides to which treatments accidents are charged: LongSteps::charged. Time decides, not their number: the excess
// time for each step under the noise is compared with that of steps without noise (quiet, placebo, control.delay and
// control.sham), by re-randomisation within blocks, at 1 % for more of it and at 1 % for less: accidents that happen
// but beside a noise are part of what it does. (At 5 %, one calm interval in twenty would become seven times as wide.)
// Accidents that only a noise has are charged to it, however few. Where more than 5 % of any treatment's steps are
// accidents, all are charged.
//
// Where that is not beyond doubt (p > 0.001), estimates are without them, and intervals span those with them.
//
// Quiet first, then each treatment that is one factor.
std::vector<AccidentRate> charge_accidents(const Measures& step_ms, const Exposures& exposures, const Experiment& plan,
                                           const base::LongColumn<int>& block, LongSteps& steps, std::uint64_t seed);

// A noise may change how often steps of a stratum come that has no period (a checkpoint each 30 s). Sets
// StepStratum::counted, and StepStratum::assumed: the noise's own share where it differs from that of steps without
// noise by re-randomisation within blocks at 1 %, two-sided; else one for all.
void settle_shares(const Exposures& exposures, const Experiment& plan, const base::LongColumn<int>& block,
                   LongSteps& steps, std::uint64_t seed);

}  // namespace analysis
