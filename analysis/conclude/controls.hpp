// What the built-in positive controls truly did to the training, by its own record and the noise's.
#pragma once

#include "analysis/estimate/analyse.hpp"

#include <optional>

namespace analysis {

// What a control delay truly was: mean of region control_delay on rank 0 in used steps wholly under it, in percent of
// the quiet mean step. Empty if the region was never recorded there.
std::optional<double> true_delay_percent(const DesignedRun& run, const Analysis& analysis, const Assigned& control);

// What a control pause truly was: the stopped time of used steps, mean over ranks, estimated as the step's own time is,
// in percent of the quiet mean step. A mean over the steps wholly under it would miss those at its borders, which lie
// where it stops more or less than elsewhere in its slots. Empty if nothing was stopped in its slots.
std::optional<double> true_pause_percent(const DesignedRun& run, const Analysis& analysis, const Assigned& control);

}  // namespace analysis
