// SPDX-License-Identifier: Apache-2.0
// Finds parts of a noise's time in which no step began.
#pragma once

#include "analysis/estimate/analyse.hpp"

#include <optional>
#include <string>

namespace analysis {

// Why a noise cannot be called safe: no step began in more than a twentieth of its slot time, because long steps (or
// times between steps) that began in other slots, and that do not recur, cover it. Their time counts for the treatment
// in which they began.
std::optional<std::string> unseen_slots(const DesignedRun& run, const Analysis& analysis, const Effect& effect);

// Why no noise can be called safe: half of the training's time is in steps that take more than twice as long as most
// (work is queued, and every n-th step waits for it), with fewer than four of them in a slot. Such a step does the work
// of several slots, but counts for one.
std::optional<std::string> steps_that_wait(const DesignedRun& run, const Analysis& analysis);

}  // namespace analysis
