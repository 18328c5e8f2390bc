// Writing a checkpoint.
#include "analysis/metrics/metric.hpp"
#include "base/contract/run_directory.hpp"

namespace analysis::metric {

extern const MetricCard checkpoint{
    .name = "checkpoint",
    .unit = "percent of the quiet mean step",
    .summary = "Time that the training thread spends on a checkpoint.",
    .formula = "as slowdown, of the time in this phase; the effects on all phases add up to that on the step",
    .reading = "In few steps only: grows with noise on disks.",
    .better = Better::less,
    .from = "regions directly inside `step`, or columns of a table of steps",
    .source = "docs/formats.md, steps.csv",
    .places = {{base::file::effects, "effect_percent", "phase is checkpoint"},
               {"phases_effects.csv", "effect_percent", "row is that of checkpoint"},
               {"pooled.csv", "effect_percent", "phase is checkpoint"},
               {"compare.csv", "effect_percent", "phase is checkpoint"},
               {"phases_over_time.csv", "mean_ms", "phase is checkpoint"},
               {base::file::steps, "checkpoint_ns"}},
};

}  // namespace analysis::metric
