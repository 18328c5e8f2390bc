// Debts: what a noise adds to the next recurring long step, in whatever slot that is (a checkpoint that waits for what
// was written since the last one).
#pragma once

#include "analysis/estimate/carry_over.hpp"

#include <vector>

namespace analysis {

// Sets CarryOver::debt_percent and CarryOver::debt_to where steps of a stratum are longer the more steps began under
// the noise since the stratum's step before: least squares of their excess time on the treatment in which they begin
// and on these counts, one-sided at 1 % over all noises and strata. quiet_ms: the mean quiet step.
void look_for_debts(const Measures& step_ms, const StepsOf& steps, double quiet_ms, std::vector<CarryOver>& all);

}  // namespace analysis
