// The time of a step that a rank did not wait.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard own_time{
    .name = "own_time",
    .unit = "ms, and percent above the rank's median",
    .summary = "Time of a rank's step without waiting for gradients, and without controls.",
    .formula = "step - wait_exchange - the control's phases, on each rank",
    .reading = "High on one rank at a time: that rank was late, and the others waited for it.",
    .better = Better::less,
    .from = "regions of the training's archive, or a table of steps",
    .source = "docs/formats.md, index.html",
    .places = {{"heat_map.csv", "own_ms"}, {"heat_map.csv", "over_median_percent"}},
};

}  // namespace analysis::metric
