// Carry-over: how much of the noise of a slot is left in the slot after it.
#pragma once

#include "analysis/estimate/estimator.hpp"
#include "analysis/estimate/rerandomise.hpp"

#include <optional>
#include <string>
#include <vector>

namespace analysis {

struct CarryOver {
    std::string factor;
    std::string level;
    std::string stressor;
    base::Role role = base::Role::treatment;
    Mean percent;            // of the quiet mean step
    double p = 1.0;          // by re-randomisation; without draws by the t test
    double p_holm = 1.0;     // over all noises and levels
    std::int64_t steps = 0;  // that it rests on: in slots after one with the noise
    bool surely = false;     // beyond doubt: p_holm <= 0.001, likewise
    bool counted = false;    // part of the noise's effect: p_holm <= 0.05, at this level or another of the factor
};

constexpr double significant_carry_over = 0.05;
constexpr double sure_carry_over = 0.001;

// Estimates for each noise and level how much longer steps in a slot are if the noise was on in the slot before, than
// if that slot was quiet, whatever is on now: see Lasting. Empty where the order of slots does not separate carry-over
// from effects (a fixed sequence), and with fewer than three blocks.
//
// p: within each block the slots' residuals under "nothing is left of this noise" are exchanged (Freedman and Lane
// 1983).
std::vector<CarryOver> carry_over(const Series& series, const StepsOf& steps, const Fit& fit, const Draws& draws,
                                  bool looked);

}  // namespace analysis
