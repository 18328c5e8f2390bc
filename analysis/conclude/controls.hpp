// SPDX-License-Identifier: Apache-2.0
// True effects of the built-in positive controls on the training, by its own record and the noise's.
#pragma once

#include "analysis/estimate/analyse.hpp"

#include <optional>

namespace analysis {

// True effect of a control delay: mean of region control_delay on rank 0 in used steps wholly under it, in percent of
// the quiet mean step. Empty if the region was never recorded there.
std::optional<double> true_delay_percent(const DesignedRun& run, const Analysis& analysis, const Assigned& control);

// True effect of a control pause: stopped time of used steps, mean over ranks, estimated as the step's own time is,
// in percent of the quiet mean step. A mean over the steps wholly under it would miss those at its borders, which lie
// where it stops more or less than elsewhere in its slots. Empty if nothing was stopped in its slots.
std::optional<double> true_pause_percent(const DesignedRun& run, const Analysis& analysis, const Assigned& control);

}  // namespace analysis
