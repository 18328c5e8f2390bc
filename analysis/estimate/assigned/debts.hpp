// SPDX-License-Identifier: Apache-2.0
// Debts: time that a noise adds to a long step after its own slot. The next checkpoint pays it, in whatever slot that
// is: it writes what the noise delayed. Or a long step takes longer in the slot right after the noise.
#pragma once

#include "analysis/estimate/assigned/long_steps.hpp"
#include "base/statistics.hpp"

#include <string>
#include <vector>

namespace analysis {

struct Debt {
    // The slowdown if the noise were on all the time, for the kind of long steps and of debt where it is largest. It
    // may be due to chance.
    base::Mean percent;
    // Upper bound of the slowdown for strata with too few steps for an estimate; counts in the effect at worst.
    double most_percent = 0.0;
    // The first slowdown that is beyond chance, and its kind of long steps; 0 if there is none.
    double found_percent = 0.0;
    std::string to;
};

// Result: [noise]. `quiet_ms`: the mean quiet step. For each kind of long steps (a stratum, or accidents), least
// squares of their excess time on 1. the treatment in which they begin, and 2. the number of steps under each noise
// since the previous long step, or the noise of the previous slot. If there are too few steps to separate the noises,
// each noise is fitted alone. With fewer than five steps, the upper bound attributes all excess time to the noise.
// Beyond chance: one-sided at 1 %, with Holm's correction over noises, kinds of long steps and both regressors.
std::vector<Debt> debts(const Measures& step_ms, const Exposures& exposures, const Experiment& plan,
                        const LongSteps& steps, const std::vector<Assigned>& noises, double quiet_ms);

}  // namespace analysis
