// The forward pass.
#include "analysis/metrics/metric.hpp"
#include "base/contract/run_directory.hpp"

namespace analysis::metric {

extern const MetricCard forward{
    .name = "forward",
    .unit = "percent of the quiet mean step",
    .summary = "Time of the forward pass.",
    .formula = "as slowdown, of the time in this phase; the effects on all phases add up to that on the step",
    .reading = "Own work of the rank: grows with noise on memory, caches or CPUs.",
    .better = Better::less,
    .from = "regions directly inside `step`, or columns of a table of steps",
    .source = "docs/formats.md, steps.csv",
    .places = {{base::file::effects, "effect_percent", "phase is forward"},
               {"phases_effects.csv", "effect_percent", "row is that of forward"},
               {"pooled.csv", "effect_percent", "phase is forward"},
               {"compare.csv", "effect_percent", "phase is forward"},
               {"phases_over_time.csv", "mean_ms", "phase is forward"},
               {base::file::steps, "forward_ns"}},
};

}  // namespace analysis::metric
