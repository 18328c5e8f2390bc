// Simulated sets of runs, compared: how often the interval holds the truth.
#pragma once

#include "analysis/studies/studies.hpp"

#include <ostream>

namespace analysis {

// 3, 5 and 10 quiet runs and as many noisy ones, steps drifting by 30 % over a run from wherever they are, stalls of
// 20 ms in 1 % of the time; a run's level varies by 1 %, and its true effect by 1 % or 25 % of the effect: does the
// interval of interference compare hold the mean effect?
void study_of_sets(std::ostream& out, const Study& study);

}  // namespace analysis
