// The rest of the step.
#include "analysis/metrics/metric.hpp"
#include "base/contract/run_directory.hpp"

namespace analysis::metric {

extern const MetricCard other{
    .name = "other",
    .unit = "percent of the quiet mean step",
    .summary = "What of the step is in no other phase.",
    .formula = "as slowdown, of the time in this phase; the effects on all phases add up to that on the step",
    .reading = "Small in ddl-train; large where a program marks few phases.",
    .better = Better::less,
    .from = "regions directly inside `step`, or columns of a table of steps",
    .source = "docs/formats.md, steps.csv",
    .places = {{base::file::effects, "effect_percent", "phase is other"},
               {"phases_effects.csv", "effect_percent", "row is that of other"},
               {"pooled.csv", "effect_percent", "phase is other"},
               {"compare.csv", "effect_percent", "phase is other"},
               {"phases_over_time.csv", "mean_ms", "phase is other"},
               {base::file::steps, "other_ns"}},
};

}  // namespace analysis::metric
