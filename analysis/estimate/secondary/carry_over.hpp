// Carry-over: how much of the noise of a slot is left in the slot after it.
#pragma once

#include "analysis/estimate/analyse.hpp"

#include <string>
#include <vector>

namespace analysis {

struct CarryOver {
    std::string factor;
    std::string level;
    std::string stressor;
    base::Role role = base::Role::treatment;
    Mean percent;            // of the quiet mean step
    double p_holm = 1.0;     // over all factors and levels
    std::int64_t steps = 0;  // that it rests on: in slots after one with the factor
};

// Of each factor and level: how much longer the steps that lie wholly in a slot are if the factor was on in the slot
// before, than if that slot was quiet, whatever is on now. Outliers take part, for what a noise leaves behind for a
// moment looks like one.
//
// Least squares of step time on the slot's treatment and on the factors of the slot before (first-order carry-over,
// additive, as in a crossover trial: Jones and Kenward, Design and Analysis of Cross-Over Trials), with a mean of its
// own for each block, which takes the drift. Its spread is the delete-a-block jackknife's. Steps that straddle a border
// would mix the slot before with its carry-over in shares of work that nobody knows: the speed just behind the border
// is not the slot's mean. They are left out, as many of them in every kind of slot.
//
// Empty where the order of slots does not separate carry-over from effects (a fixed sequence), and with fewer than
// three blocks.
std::vector<CarryOver> carry_over(const DesignedRun& run, const Analysis& analysis, bool looked);

}  // namespace analysis
