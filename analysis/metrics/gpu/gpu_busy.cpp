// Time of a step in which the GPU computes.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard gpu_busy{
    .name = "gpu_busy",
    .title = "GPU computing",
    .unit = "percent of the quiet mean step",
    .summary = "Time of a step in which the GPU computes.",
    .formula = "union over the GPU's streams of its computing kernels, clipped to the step; mean over GPUs",
    .reading = "Less under noise means that the GPU waits; more, that kernels themselves take longer.",
    .from = "streams of GPUs and the calls that launch their work, in the training's archive",
    .source = "HTA's temporal breakdown",
    .places = {{"gpu_effects.csv", "effect_percent", "measure is gpu_busy"}, {"gpu_steps.csv", "busy_ns"}},
};

}  // namespace analysis::metric
