// What the built-in positive controls truly did to the training, by its own record and the noise's.
#pragma once

#include "analysis/analyse.hpp"

#include <optional>

namespace analysis {

// What the control delay truly was: mean of region control_delay on rank 0 in used steps wholly under control.delay, in
// percent of the quiet mean step. Empty if the region was never recorded.
std::optional<double> true_delay_percent(const DesignedRun& run, const Analysis& analysis);

// What the control pause truly was: mean stopped time in used steps wholly under control.pause, over ranks, in percent
// of the quiet mean step. Empty if nothing was stopped.
std::optional<double> true_pause_percent(const DesignedRun& run, const Analysis& analysis);

}  // namespace analysis
