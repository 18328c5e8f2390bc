// Idle time of the GPU in which its next kernel is not launched, since the launching thread is in a synchronisation.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard gpu_idle_host_wait{
    .name = "gpu_idle_host_wait",
    .title = "idle: host synchronises",
    .unit = "percent of the quiet mean step",
    .summary =
        "Idle time of the GPU in which its next kernel is not launched, since the launching thread is in a "
        "synchronisation.",
    .formula = "fifth of the causes in docs/interference.md#gpus",
    .reading = "Synchronise less often, or later.",
    .better = Better::less,
    .from = "streams of GPUs and the calls that launch their work, in the training's archive",
    .source = "HTA's host wait; CASITA",
    .places = {{"gpu_effects.csv", "effect_percent", "measure is gpu_idle_host_wait"},
               {"gpu_steps.csv", "idle_host_wait_ns"}},
};

}  // namespace analysis::metric
