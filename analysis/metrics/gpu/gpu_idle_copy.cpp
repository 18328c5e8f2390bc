// Idle time of the GPU in which its next kernel is launched, and a copy runs.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard gpu_idle_copy{
    .name = "gpu_idle_copy",
    .title = "idle: copy exposed",
    .unit = "percent of the quiet mean step",
    .summary = "Idle time of the GPU in which its next kernel is launched, and a copy runs.",
    .formula = "seventh of the causes in docs/interference.md#gpus",
    .reading = "Copies that computing does not hide.",
    .better = Better::less,
    .from = "streams of GPUs and the calls that launch their work, in the training's archive",
    .source = "HTA",
    .places = {{"gpu_effects.csv", "effect_percent", "measure is gpu_idle_copy"}, {"gpu_steps.csv", "idle_copy_ns"}},
};

}  // namespace analysis::metric
