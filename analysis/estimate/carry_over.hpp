// SPDX-License-Identifier: Apache-2.0
// Carry-over: how much a noise still slows steps in the slots after its own.
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
    int slots = 1;           // number of slots after the noise in which carry-over is looked for
    Mean percent;            // as if the noise were on all the time, in percent of the mean quiet step
    double p = 1.0;          // by re-randomisation; by the t test if there are no draws
    double p_holm = 1.0;     // over all noises, levels and windows that were tested
    std::int64_t steps = 0;  // number of steps in slots after a slot with the noise
    // Number of slots after the noise in which long steps are more frequent or longer, at 1 % over all tests; 0: none.
    // `long_steps_percent`: their excess time there, in percent of the mean quiet step.
    int long_steps_slots = 0;
    double long_steps_percent = 0.0;
    Debt debt;             // time that the noise adds to recurring long steps after it
    bool surely = false;   // certain carry-over: p_holm <= 0.001 at this level or another one
    bool counted = false;  // counts in the noise's effect: above 0 and p_holm <= 0.05, at this level or another
    // Steps are shorter after the noise (p_holm <= 0.05). This is not part of its effect, but the noise is not called
    // safe.
    bool helps = false;
};

constexpr double significant_carry_over = 0.05;
constexpr double sure_carry_over = 0.001;

// Windows, in slots, in which carry-over is looked for: some fades within a slot, some takes several (writing back
// dirty pages).
inline constexpr std::array<int, 3> lasting_windows{1, 3, 8};

// For each noise and level: how much longer steps are in a slot after slots with the noise than after quiet slots,
// whatever treatment is on (see Lasting). The window with the clearest carry-over counts; if none is found, the slot
// after the noise. Empty if the order of slots does not separate carry-over from effects (a fixed sequence), or with
// fewer than three blocks.
//
// p: by exchange of the slots' residuals within each block under the hypothesis of no carry-over (Freedman and Lane
// 1983).
std::vector<CarryOver> carry_over(const Series& series, const StepsOf& steps, const Fit& fit, const Draws& draws,
                                  Looks when);

}  // namespace analysis
