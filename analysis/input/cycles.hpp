// The training's cycle: a step and the time until the next one begins.
#pragma once

#include "analysis/input/steps.hpp"

namespace analysis {

inline constexpr const char* between_steps = "between_steps";

// Lengthens each step to the begin of the next one of its rank: throughput is lost there as well. The time between is a
// phase of that name. Where it is less than a thousandth of all, it is added to the phase `other`, if there is one.
// A step whose successor is missing keeps its end, as does the last one. Sets StepTable::between_share.
void measure_cycles(StepTable& steps);

}  // namespace analysis
