// Waiting for gradients.
#include "analysis/metrics/metric.hpp"
#include "base/contract/run_directory.hpp"

namespace analysis::metric {

extern const MetricCard wait_exchange{
    .name = "wait_exchange",
    .unit = "percent of the quiet mean step",
    .summary = "Time that the training thread waits for the gradients of all ranks after its own are ready.",
    .formula = "as slowdown, of the time in this phase; the effects on all phases add up to that on the step",
    .reading =
        "Exposed communication: transfer, and waiting for slower ranks. See `waiting` and `transfer_min` for which.",
    .better = Better::less,
    .from = "regions directly inside `step`, or columns of a table of steps",
    .source = "docs/formats.md, steps.csv",
    .places = {{base::file::effects, "effect_percent", "phase is wait_exchange"},
               {"phases_effects.csv", "effect_percent", "row is that of wait_exchange"},
               {"pooled.csv", "effect_percent", "phase is wait_exchange"},
               {"compare.csv", "effect_percent", "phase is wait_exchange"},
               {"phases_over_time.csv", "mean_ms", "phase is wait_exchange"},
               {base::file::steps, "wait_exchange_ns"}},
};

}  // namespace analysis::metric
