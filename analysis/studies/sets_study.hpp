// SPDX-License-Identifier: Apache-2.0
// Simulates sets of runs and compares them: how often the interval includes the truth.
#pragma once

#include "analysis/studies/studies.hpp"

#include <ostream>

namespace analysis {

// Simulates 3, 5 and 10 quiet runs and as many noisy ones. How often does the interval of `interference compare`
// include the mean effect? Steps drift by 30 % over a run, and stalls of 20 ms take 1 % of the time. Between runs the
// level of all steps varies by 1 %, and the true effect by 1 % or 25 % of itself.
void study_of_sets(std::ostream& out, const Study& study);

// Simulates quiet runs against quiet runs, of two ranks with two phases, and designed runs whose noises have no effect:
// how often is there any alarm (p <= 0.05 after Holm's correction)?
void study_of_alarms(std::ostream& out, const Study& study);

// Computes the machine time until three noises are known to +- 0.5 %: with one rotation with a placebo and two
// controls, and with separate quiet and noisy runs. The latter vary in level from run to run but have no drift, which
// favours them.
void study_of_efficiency(std::ostream& out, const Study& study);

}  // namespace analysis
