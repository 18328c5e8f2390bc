// The barriers around the known delay.
#include "analysis/metrics/metric.hpp"
#include "base/contract/phases.hpp"
#include "base/contract/run_directory.hpp"

namespace analysis::metric {

extern const MetricCard control_settle{
    .name = base::text(base::TrainingPhase::control_settle),
    .unit = "percent of the quiet mean step",
    .summary = "Barriers and rest around the known delay, in slots of the delay and its sham.",
    .formula = "as slowdown, of the time in this phase; the effects on all phases add up to that on the step",
    .reading = "What the control itself costs; the sham has it, too, so it cancels.",
    .better = Better::neither,
    .from = "regions directly inside `step`, or columns of a table of steps",
    .source = "docs/formats.md, steps.csv",
    .places = {{base::file::effects, "effect_percent", "phase is " + base::text(base::TrainingPhase::control_settle)},
               {"phases_effects.csv", "effect_percent",
                "row is that of " + base::text(base::TrainingPhase::control_settle)},
               {"pooled.csv", "effect_percent", "phase is " + base::text(base::TrainingPhase::control_settle)},
               {"compare.csv", "effect_percent", "phase is " + base::text(base::TrainingPhase::control_settle)},
               {"phases_over_time.csv", "mean_ms", "phase is " + base::text(base::TrainingPhase::control_settle)},
               {base::file::steps, base::text(base::TrainingPhase::control_settle) + "_ns"}},
};

}  // namespace analysis::metric
