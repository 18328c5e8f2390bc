// SPDX-License-Identifier: Apache-2.0
// Accidents under each noise: their number, their time, and whether the noise causes them.
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
    double percent_of_time = 0.0;  // their whole time, in percent of all steps' time
    double excess_percent = 0.0;   // their time beyond ordinary steps, in percent of the time of ordinary steps
    // Probability that chance alone gives the noise at least this much more excess time than quiet.
    double p = 1.0;
    bool charged = false;    // the excess time counts as an effect of the noise
    bool only_here = false;  // steps without noise have no accidents at all
    // N: stalls in one of N steps may have been missed (97.5 %); 0 if there are accidents.
    double unmet_one_in = 0.0;
};

// Decides to which treatments accidents are charged (LongSteps::charged), by their time, not by their number. The
// excess time per step under the noise is compared with that of steps without noise (quiet, placebo, control.delay and
// control.sham) by re-randomisation within blocks, at 1 % each for more and for less excess time: less is an effect
// too. (At 5 %, one quiet interval in twenty would become seven times as wide.) Accidents that occur only under one
// noise are charged to it, however few. Where more than 5 % of any treatment's steps are accidents, all accidents are
// charged.
//
// Where the difference is not beyond doubt (p > 0.001), estimates are without accidents, and intervals also span the
// estimate with them.
//
// Returns the rates of quiet first, then of each treatment that is a single factor.
std::vector<AccidentRate> charge_accidents(const Measures& step_ms, const Exposures& exposures, const Experiment& plan,
                                           const base::LongColumn<int>& block, LongSteps& steps, std::uint64_t seed);

// Decides the shares of strata without a period (a checkpoint each 30 s), whose steps a noise may make more or less
// frequent. Sets StepStratum::counted, the counted shares, and StepStratum::assumed: the noise's own share where it
// differs from that of steps without noise by re-randomisation within blocks (1 %, two-sided), else one common share.
void settle_shares(const Exposures& exposures, const Experiment& plan, const base::LongColumn<int>& block,
                   LongSteps& steps, std::uint64_t seed);

}  // namespace analysis
