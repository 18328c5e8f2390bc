// Waiting for input.
#include "analysis/metrics/metric.hpp"
#include "base/contract/run_directory.hpp"

namespace analysis::metric {

extern const MetricCard load{
    .name = "load",
    .unit = "percent of the quiet mean step",
    .summary = "Time that the training thread waits for input data.",
    .formula = "as slowdown, of the time in this phase; the effects on all phases add up to that on the step",
    .reading = "Grows with noise on disks, or on the CPUs of the readers.",
    .better = Better::less,
    .from = "regions directly inside `step`, or columns of a table of steps",
    .source = "docs/formats.md, steps.csv",
    .places = {{base::file::effects, "effect_percent", "phase is load"},
               {"phases_effects.csv", "effect_percent", "row is that of load"},
               {"pooled.csv", "effect_percent", "phase is load"},
               {"compare.csv", "effect_percent", "phase is load"},
               {"phases_over_time.csv", "mean_ms", "phase is load"},
               {base::file::steps, "load_ns"}},
};

}  // namespace analysis::metric
