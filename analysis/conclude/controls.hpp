// SPDX-License-Identifier: Apache-2.0
// True effects of the built-in positive controls, from the training's record and the noise's.
#pragma once

#include "analysis/estimate/analyse.hpp"

#include <optional>

namespace analysis {

// True effect of a control delay, in percent of the quiet mean step: mean time in region control_delay on rank 0, over
// used steps wholly under the control. Empty if the region was never recorded there.
std::optional<double> true_delay_percent(const DesignedRun& run, const Analysis& analysis, const Assigned& control);

// True effect of a control pause, in percent of the quiet mean step: the stopped time of used steps, mean over ranks,
// estimated like the time of a step. A mean over the steps wholly under the control would miss the steps at the borders
// of its slots, where the stopped time differs from that inside them. Empty if nothing was stopped in its slots.
std::optional<double> true_pause_percent(const DesignedRun& run, const Analysis& analysis, const Assigned& control);

}  // namespace analysis
