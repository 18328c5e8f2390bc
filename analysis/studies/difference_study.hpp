// SPDX-License-Identifier: Apache-2.0
// Simulates runs before and after a change: how often the interval of the difference includes the truth.
#pragma once

#include "analysis/studies/studies.hpp"

#include <ostream>

namespace analysis {

// Simulates single runs, whose interval is about these two runs only, and sets of three runs, whose effects differ by 1
// % and by 25 % of the effect from run to run. Four noises run, of which two do not change: how often is an unchanged
// one called changed?
void study_of_differences(std::ostream& out, const Study& study);

}  // namespace analysis
