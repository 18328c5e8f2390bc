// SPDX-License-Identifier: Apache-2.0
// Time that a noise adds to a long step that begins after it: a debt that the next checkpoint pays, in whatever slot
// that is, a checkpoint that takes longer in the slot after the noise, or dirty pages that are written now and then.
#pragma once

#include "analysis/estimate/assigned/long_steps.hpp"
#include "base/statistics.hpp"

#include <string>
#include <vector>

namespace analysis {

struct Debt {
    // Estimated slowdown by the debt if the noise were on all the time, for the stratum and the kind of debt with the
    // largest slowdown. It may be chance.
    base::Mean percent;
    // The most that it can be of a stratum with so few steps that nothing is known of it; in the slowdown at worst.
    double most_percent = 0.0;
    // The first where it is beyond chance, and the kind of long steps; 0 where it is not.
    double found_percent = 0.0;
    std::string to;
};

// [noise]. Least squares of the excess time of a stratum's steps, or of accidents, on the treatment in which they
// begin, and on how many steps began beside each noise since the long step before; or on which noise was on in the slot
// before. Where they are too few to separate the noises, each noise is taken alone. Of a stratum with fewer than five
// steps the most that a noise may cost is all of their excess. Beyond chance: one-sided at 1 %, Holm's correction over
// noises, kinds of long steps and both ways. quiet_ms: the mean quiet step.
std::vector<Debt> debts(const Measures& step_ms, const Exposures& exposures, const Experiment& plan,
                        const LongSteps& steps, const std::vector<Assigned>& noises, double quiet_ms);

}  // namespace analysis
