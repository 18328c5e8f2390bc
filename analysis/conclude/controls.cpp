// SPDX-License-Identifier: Apache-2.0
#include "analysis/conclude/controls.hpp"

#include "analysis/conclude/harm.hpp"
#include "base/contract/phases.hpp"

#include <algorithm>
#include <functional>

namespace analysis {

namespace {

// The treatment with the control alone.
std::optional<std::size_t> treatment_of(const Experiment& plan, const Assigned& control)
{
    const auto found = std::find(plan.treatments.begin(), plan.treatments.end(), Treatment{{control}});
    if (found == plan.treatments.end()) return std::nullopt;
    return static_cast<std::size_t>(found - plan.treatments.begin());
}

bool stopped_under(const DesignedRun& run, std::size_t treatment)
{
    for (std::size_t r = 0; r < run.stopped.size(); ++r)
        for (std::size_t c = 0; c < run.slots[r].size(); ++c)
            if (run.plan.treatment_of[c] == treatment &&
                overlap_ns(run.slots[r][c].begin_ns, run.slots[r][c].end_ns, run.stopped[r]) > 0)
                return true;
    return false;
}

double mean_stopped_ms(const DesignedRun& run, std::size_t step)
{
    double sum_ms = 0.0;
    for (std::size_t r = 0; r < run.stopped.size(); ++r) sum_ms += stopped_ms(run, r, step);
    return sum_ms / static_cast<double>(run.stopped.size());
}

// The true effect of a control: the effect on a time that was recorded in each step, by the same estimator as the
// effect on the step.
std::optional<double> true_percent(const DesignedRun& run, const Analysis& analysis, const Assigned& control,
                                   const std::function<double(std::size_t step)>& recorded_ms)
{
    const Measures step_ms = measures_of(run.steps).only(1);
    const Measures both{run.steps.numbers.size(), 2, [&](std::size_t step, std::span<double> values) {
                            values[0] = step_ms.first(step);
                            if (values.size() > 1) values[1] = recorded_ms(step);
                        }};
    const Series series = job_series(run, analysis, both, {"step", "recorded"});
    const StepsOf steps = steps_of(run, analysis);
    const EffectTable all = effects(series, steps, fit(series, steps), {.count = 0});
    const Effect* recorded = find(all, control.factor, control.level, Kind::alone, "recorded");
    return recorded == nullptr ? std::nullopt : std::optional{recorded->percent.value};
}

}  // namespace

std::optional<double> true_delay_percent(const DesignedRun& run, const Analysis& analysis, const Assigned& control)
{
    const auto phase =
        std::find(run.steps.phases.begin(), run.steps.phases.end(), base::text(base::TrainingPhase::control_delay));
    const std::optional<std::size_t> delayed = treatment_of(run.plan, control);
    if (phase == run.steps.phases.end() || !delayed) return std::nullopt;
    const auto column = static_cast<Eigen::Index>(phase - run.steps.phases.begin());
    const LongTable& phase_ms = run.steps.ranks.front().phase_ms;
    const auto delayed_ms = [&](std::size_t step) { return phase_ms(static_cast<Eigen::Index>(step), column); };
    bool any = false;
    for (std::size_t i = 0; i < run.steps.numbers.size() && !any; ++i)
        any = analysis.exposures.left_out[i] == LeftOut::no &&
              analysis::treatment_of(analysis.exposures, run.plan, i) == *delayed && delayed_ms(i) > 0.0;
    return any ? true_percent(run, analysis, control, delayed_ms) : std::nullopt;
}

std::optional<double> true_pause_percent(const DesignedRun& run, const Analysis& analysis, const Assigned& control)
{
    const std::optional<std::size_t> paused = treatment_of(run.plan, control);
    if (!paused || !stopped_under(run, *paused)) return std::nullopt;
    return true_percent(run, analysis, control, [&](std::size_t step) { return mean_stopped_ms(run, step); });
}

void look_for(Control& control)
{
    const Interval& seen = control.interval;
    control.found = seen.low > 0.0 && seen.low <= control.true_percent && control.least_true_percent() <= seen.high;
}

bool contradicts(const Control& control)
{
    const Interval wide = control.percent.interval(distrust_confidence);
    return !(wide.low <= control.true_percent && control.least_true_percent() <= wide.high);
}

std::optional<Absorbed> absorbed_of(const Control& delay)
{
    if (!delay.connected || delay.true_percent <= 0.0) return std::nullopt;
    const auto missing = [&](double percent) { return 100.0 * (1.0 - percent / delay.true_percent); };
    return Absorbed{missing(delay.percent.value), missing(delay.interval.high), missing(delay.interval.low)};
}

}  // namespace analysis
