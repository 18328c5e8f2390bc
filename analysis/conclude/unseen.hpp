// SPDX-License-Identifier: Apache-2.0
// Finds parts of a noise's time in which no step began.
#pragma once

#include "analysis/estimate/analyse.hpp"

#include <optional>
#include <string>

namespace analysis {

// Why a noise cannot be called safe: more than a twentieth of its slot time lies within long steps, or times between
// steps, that began in other slots and do not recur. Their time is charged to the treatment of those.
std::optional<std::string> unseen_slots(const DesignedRun& run, const Analysis& analysis, const Effect& effect);

// Why no noise can be called safe: half of the time lies in steps more than twice as long as most steps (work is
// queued, and every n-th step waits for it), and a slot holds fewer than four of these. The work of such a step was
// done in several slots, but is attributed to one.
std::optional<std::string> steps_that_wait(const DesignedRun& run, const Analysis& analysis);

}  // namespace analysis
