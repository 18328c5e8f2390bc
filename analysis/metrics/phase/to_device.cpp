// Copying input to the device.
#include "analysis/metrics/metric.hpp"
#include "base/contract/run_directory.hpp"

namespace analysis::metric {

extern const MetricCard to_device{
    .name = "to_device",
    .unit = "percent of the quiet mean step",
    .summary = "Time to copy a batch to the device.",
    .formula = "as slowdown, of the time in this phase; the effects on all phases add up to that on the step",
    .reading = "Grows with noise on memory or the bus of the device.",
    .better = Better::less,
    .from = "regions directly inside `step`, or columns of a table of steps",
    .source = "docs/formats.md, steps.csv",
    .places = {{base::file::effects, "effect_percent", "phase is to_device"},
               {"phases_effects.csv", "effect_percent", "row is that of to_device"},
               {"pooled.csv", "effect_percent", "phase is to_device"},
               {"compare.csv", "effect_percent", "phase is to_device"},
               {"phases_over_time.csv", "mean_ms", "phase is to_device"},
               {base::file::steps, "to_device_ns"}},
};

}  // namespace analysis::metric
