// SPDX-License-Identifier: Apache-2.0
// Carry-over: how much of the noise of a slot is left in the slots after it.
#pragma once

#include "analysis/estimate/assigned/debts.hpp"
#include "analysis/estimate/estimator.hpp"
#include "analysis/estimate/rerandomise.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace analysis {

struct CarryOver {
    std::string factor;
    std::string level;
    std::string stressor;
    base::Role role = base::Role::treatment;
    int slots = 1;           // after it, in which it is looked for
    Mean percent;            // of the quiet mean step, of a noise that is on all the time
    double p = 1.0;          // by re-randomisation; without draws by the t test
    double p_holm = 1.0;     // over all noises, levels and numbers of slots that were looked at
    std::int64_t steps = 0;  // that it rests on: in slots after one with the noise
    // Long steps are more frequent, or longer, in so many slots after it (0: not so): at least at 1 % over all that was
    // looked at. `long_steps_percent` is what they take of the quiet mean step there.
    int long_steps_slots = 0;
    double long_steps_percent = 0.0;
    Debt debt;             // what it adds to recurring long steps after it
    bool surely = false;   // beyond doubt: p_holm <= 0.001, likewise
    bool counted = false;  // part of the noise's effect: more than 0, p_holm <= 0.05, at this level or another one
    bool helps = false;    // steps are shorter after it (p_holm <= 0.05): no part of its effect, but no acquittal
};

constexpr double significant_carry_over = 0.05;
constexpr double sure_carry_over = 0.001;

// Windows in which it is looked for: what fades within a slot, and what takes some (dirty pages that are written back).
inline constexpr std::array<int, 3> lasting_windows{1, 3, 8};

// Estimates for each noise and level how much longer steps in a slot are if the noise was on in the slots before, than
// if those were quiet, whatever is on now: see Lasting. Of the windows the one counts in which it stands out most;
// where nothing is found, the slot after the noise. Empty where the order of slots does not separate carry-over from
// effects (a fixed sequence), and with fewer than three blocks.
//
// p: within each block the slots' residuals under "nothing is left of this noise" are exchanged (Freedman and Lane
// 1983).
std::vector<CarryOver> carry_over(const Series& series, const StepsOf& steps, const Fit& fit, const Draws& draws,
                                  bool looked);

}  // namespace analysis
