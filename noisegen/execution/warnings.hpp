// What may keep noise from what was asked for.
#pragma once

#include "noisegen/execution/plan.hpp"

namespace noisegen {

// On stderr: noise of others on the same CPUs, less CPU time than CPUs, a training that may run on any CPU.
void warn_of_competition(const Plan& plan);

}  // namespace noisegen
