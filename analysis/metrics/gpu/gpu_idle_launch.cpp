// Idle time of the GPU in which its next kernel is not launched, and the host does something else.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard gpu_idle_launch{
    .name = "gpu_idle_launch",
    .title = "idle: launched late",
    .unit = "percent of the quiet mean step",
    .summary = "Idle time of the GPU in which its next kernel is not launched, and the host does something else.",
    .formula = "sixth of the causes in docs/interference.md#gpus",
    .reading = "Noise that slows the host reaches the GPU here.",
    .better = Better::less,
    .from = "streams of GPUs and the calls that launch their work, in the training's archive",
    .source = "HTA's host wait; CASITA's kernel startup delay",
    .places = {{"gpu_effects.csv", "effect_percent", "measure is gpu_idle_launch"},
               {"gpu_steps.csv", "idle_launch_ns"}},
};

}  // namespace analysis::metric
