// Idle time of the GPU in which its next kernel is not launched, since the host gets or copies input.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard gpu_idle_input{
    .name = "gpu_idle_input",
    .title = "idle: input late",
    .unit = "percent of the quiet mean step",
    .summary = "Idle time of the GPU in which its next kernel is not launched, since the host gets or copies input.",
    .formula = "fourth of the causes in docs/interference.md#gpus",
    .reading = "Noise on memory or disk reaches the GPU here.",
    .better = Better::less,
    .from = "streams of GPUs and the calls that launch their work, in the training's archive",
    .source = "docs/interference.md",
    .places = {{"gpu_effects.csv", "effect_percent", "measure is gpu_idle_input"}, {"gpu_steps.csv", "idle_input_ns"}},
};

}  // namespace analysis::metric
