// SPDX-License-Identifier: Apache-2.0
// Simulates runs with known response curves and known carry-over: how often these are found.
#pragma once

#include "analysis/studies/studies.hpp"

#include <ostream>

namespace analysis {

// Simulates a noise with eight levels: the lowest three have no effect, and the cost of the others rises. Is the break
// point found within one level, and does the interval of the tolerated level include the true one?
void study_of_response(std::ostream& out, const Study& study);

// Simulates noises with a carry-over of 0, 2 % and 5 %, constant in the next slot or fading: is it found?
void study_of_carry_over(std::ostream& out, const Study& study);

}  // namespace analysis
