// The backward pass.
#include "analysis/metrics/metric.hpp"
#include "base/contract/run_directory.hpp"

namespace analysis::metric {

extern const MetricCard backward{
    .name = "backward",
    .unit = "percent of the quiet mean step",
    .summary = "Time of the backward pass, until the last local gradients are ready.",
    .formula = "as slowdown, of the time in this phase; the effects on all phases add up to that on the step",
    .reading = "May hold waiting for peers, so it may name the wrong rank: see `ready_rank`.",
    .better = Better::less,
    .from = "regions directly inside `step`, or columns of a table of steps",
    .source = "docs/formats.md, steps.csv",
    .places = {{base::file::effects, "effect_percent", "phase is backward"},
               {"phases_effects.csv", "effect_percent", "row is that of backward"},
               {"pooled.csv", "effect_percent", "phase is backward"},
               {"compare.csv", "effect_percent", "phase is backward"},
               {"phases_over_time.csv", "mean_ms", "phase is backward"},
               {base::file::steps, "backward_ns"}},
};

}  // namespace analysis::metric
