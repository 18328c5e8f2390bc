// The optimiser.
#include "analysis/metrics/metric.hpp"
#include "base/contract/run_directory.hpp"

namespace analysis::metric {

extern const MetricCard update{
    .name = "update",
    .unit = "percent of the quiet mean step",
    .summary = "Time of the optimiser's update.",
    .formula = "as slowdown, of the time in this phase; the effects on all phases add up to that on the step",
    .reading = "Own work of the rank, bound by memory bandwidth.",
    .better = Better::less,
    .from = "regions directly inside `step`, or columns of a table of steps",
    .source = "docs/formats.md, steps.csv",
    .places = {{base::file::effects, "effect_percent", "phase is update"},
               {"phases_effects.csv", "effect_percent", "row is that of update"},
               {"pooled.csv", "effect_percent", "phase is update"},
               {"compare.csv", "effect_percent", "phase is update"},
               {"phases_over_time.csv", "mean_ms", "phase is update"},
               {base::file::steps, "update_ns"}},
};

}  // namespace analysis::metric
