// SPDX-License-Identifier: Apache-2.0
// Simulated runs with known response curves and known carry-over: how often they are found.
#pragma once

#include "analysis/studies/studies.hpp"

#include <ostream>

namespace analysis {

// A noise at eight levels, of which the lowest three do nothing and the others cost more and more: is the break point
// found within one level, and does the interval of the tolerated level hold the true one?
void study_of_response(std::ostream& out, const Study& study);

// Noises that leave nothing, 2 % and 5 % behind, all through the next slot and fading: is that found?
void study_of_carry_over(std::ostream& out, const Study& study);

}  // namespace analysis
