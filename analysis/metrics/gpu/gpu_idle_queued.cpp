// Idle time of the GPU in which its next kernel is launched, and nothing runs.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard gpu_idle_queued{
    .name = "gpu_idle_queued",
    .title = "idle: launched, not begun",
    .unit = "percent of the quiet mean step",
    .summary = "Idle time of the GPU in which its next kernel is launched, and nothing runs.",
    .formula = "last of the causes in docs/interference.md#gpus",
    .reading = "The way of a launch, gaps between kernels, waits for other streams.",
    .better = Better::less,
    .from = "streams of GPUs and the calls that launch their work, in the training's archive",
    .source = "HTA's kernel wait",
    .places = {{"gpu_effects.csv", "effect_percent", "measure is gpu_idle_queued"},
               {"gpu_steps.csv", "idle_queued_ns"}},
};

}  // namespace analysis::metric
