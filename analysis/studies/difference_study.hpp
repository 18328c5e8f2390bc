// SPDX-License-Identifier: Apache-2.0
// Runs before and after a change of their effects: how often the interval of the difference holds the truth.
#pragma once

#include "analysis/studies/studies.hpp"

#include <ostream>

namespace analysis {

// Single runs, whose interval is about these two, and sets of three, whose effects differ by 1 % and by 25 % of the
// effect from run to run. Four noises at once, of which two do not change: how often is one of those called changed?
void study_of_differences(std::ostream& out, const Study& study);

}  // namespace analysis
