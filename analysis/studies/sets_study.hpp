// SPDX-License-Identifier: Apache-2.0
// Simulated sets of runs, compared: how often the interval holds the truth.
#pragma once

#include "analysis/studies/studies.hpp"

#include <ostream>

namespace analysis {

// 3, 5 and 10 quiet runs and as many noisy ones, steps drifting by 30 % over a run from wherever they are, stalls of
// 20 ms in 1 % of the time; a run's level varies by 1 %, and its true effect by 1 % or 25 % of the effect: does the
// interval of interference compare hold the mean effect?
void study_of_sets(std::ostream& out, const Study& study);

// Quiet runs against quiet runs, of two ranks with two phases, and designed runs whose noises do nothing: how often is
// anything at all an alarm (p <= 0.05 after Holm's correction)?
void study_of_alarms(std::ostream& out, const Study& study);

// Machine time until three noises are known to +- 0.5 %: of one rotation with a placebo and two controls, and of
// separate quiet and noisy runs, whose levels vary from run to run and that have no drift, which is kind to them.
void study_of_efficiency(std::ostream& out, const Study& study);

}  // namespace analysis
