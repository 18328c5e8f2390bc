// SPDX-License-Identifier: Apache-2.0
// Debts: time that a noise adds to a recurring long step that begins after the noise. A debt may build up until the
// next checkpoint, in whatever slot that is, or fall due only in the slot after the noise.
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
    // This slowdown if it is beyond chance, else 0; and the name of the stratum whose steps pay the debt.
    double found_percent = 0.0;
    std::string to;
};

// The debts, [noise]. Least squares of the excess time of a stratum's steps on the treatment in which they begin and on
// either the number of steps that began beside each noise since the stratum's previous step, or the noise of the
// previous slot. Beyond chance: one-sided at 1 %, with Holm's correction over noises, strata and both models. quiet_ms:
// the mean quiet step.
std::vector<Debt> debts(const Measures& step_ms, const Exposures& exposures, const Experiment& plan,
                        const LongSteps& steps, const std::vector<Assigned>& noises, double quiet_ms);

}  // namespace analysis
