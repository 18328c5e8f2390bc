// SPDX-License-Identifier: Apache-2.0
// Parts of a noise's time in which no step began.
#pragma once

#include "analysis/estimate/analyse.hpp"

#include <optional>
#include <string>

namespace analysis {

// Why a noise cannot be called safe: more than a twentieth of its slots lie within long steps, or times between steps,
// that began elsewhere and do not recur. They are charged to where they began.
std::optional<std::string> unseen_slots(const DesignedRun& run, const Analysis& analysis, const Effect& effect);

// Why no noise can be called safe: half of the time lies in steps more than twice as long as most (work is queued, and
// every n-th step waits for it), and a slot holds fewer than four of them. The work of such a step was done in several
// slots, but is attributed to one.
std::optional<std::string> steps_that_wait(const DesignedRun& run, const Analysis& analysis);

}  // namespace analysis
