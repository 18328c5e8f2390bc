// SPDX-License-Identifier: Apache-2.0
// The built-in controls: their true effects, from the training's record and the noise's, and whether the measured ones
// agree with these.
#pragma once

#include "analysis/estimate/analyse.hpp"

#include <optional>

namespace analysis {

struct Control {
    Mean percent;
    Interval interval;  // at the confidence of the report
    double true_percent = 0.0;
    bool holds = true;      // false: a reason for distrust
    bool found = true;      // for a delay or pause: its interval includes the truth and excludes zero
    bool connected = true;  // false: the training did not act on the control, so there is no truth
    bool judged = true;     // false: shown, but neither trusted nor distrusted
    // Share of the host's delay during which GPUs computed. At most this share of the delay may be hidden by queued GPU
    // work and so not lengthen the step.
    double covered_percent = 0.0;
    double least_true_percent() const { return true_percent * (1.0 - covered_percent / 100.0); }
};

// True effect of a control delay, in percent of the mean quiet step: mean time in region control_delay on rank 0, over
// used steps wholly under the control. Empty if the region was never recorded there.
std::optional<double> true_delay_percent(const DesignedRun& run, const Analysis& analysis, const Assigned& control);

// True effect of a control pause, in percent of the mean quiet step: the stopped time of used steps, mean over ranks,
// estimated like the time of a step. A mean over the steps wholly under the control would miss the steps at the borders
// of its slots, where the stopped time differs from that inside them. Empty if nothing was stopped in its slots.
std::optional<double> true_pause_percent(const DesignedRun& run, const Analysis& analysis, const Assigned& control);

// The part of a host's delay that does not appear in the step, in percent of the delay, with its interval.
struct Absorbed {
    double percent = 0.0;
    double low_percent = 0.0;
    double high_percent = 0.0;
};
std::optional<Absorbed> absorbed_of(const Control& delay);  // none unless the true delay is above 0

// True if the control's 99.9 % interval excludes its truth. If a delay may be absorbed, its truth is the range from the
// least that must appear in the step to the whole delay.
bool contradicts(const Control& control);

// Sets `found`: the run found the slowdown that the control is known to cause.
void look_for(Control& control);

}  // namespace analysis
