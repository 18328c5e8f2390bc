// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/step/step_sums.hpp"

#include <algorithm>

namespace ddl {

void StepSums::add(const StepTimes& times)
{
    ++steps;
    ns += times.end_ns - times.begin_ns;
    for (std::size_t i = 0; i < phase_ns.size(); ++i) phase_ns[i] += times.phase_ns[i];
}

std::int64_t StepSums::of(Phase phase) const
{
    return phase_ns[static_cast<std::size_t>(std::find(phases.begin(), phases.end(), phase) - phases.begin())];
}

}  // namespace ddl
