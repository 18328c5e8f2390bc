// The known delay.
#include "analysis/metrics/metric.hpp"
#include "base/contract/phases.hpp"
#include "base/contract/run_directory.hpp"

namespace analysis::metric {

extern const MetricCard control_delay{
    .name = base::text(base::TrainingPhase::control_delay),
    .unit = "percent of the quiet mean step",
    .summary = "The delay of the positive control, as the training recorded it.",
    .formula = "as slowdown, of the time in this phase; the effects on all phases add up to that on the step",
    .reading = "The truth that the control delay is compared with; in its own slots only.",
    .better = Better::neither,
    .from = "regions directly inside `step`, or columns of a table of steps",
    .source = "docs/formats.md, steps.csv",
    .places = {{base::file::effects, "effect_percent", "phase is " + base::text(base::TrainingPhase::control_delay)},
               {"phases_effects.csv", "effect_percent",
                "row is that of " + base::text(base::TrainingPhase::control_delay)},
               {"pooled.csv", "effect_percent", "phase is " + base::text(base::TrainingPhase::control_delay)},
               {"compare.csv", "effect_percent", "phase is " + base::text(base::TrainingPhase::control_delay)},
               {"phases_over_time.csv", "mean_ms", "phase is " + base::text(base::TrainingPhase::control_delay)},
               {base::file::steps, base::text(base::TrainingPhase::control_delay) + "_ns"}},
};

}  // namespace analysis::metric
