// Idle time of the GPU after the last kernel that begins in the step.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard gpu_idle_nothing{
    .name = "gpu_idle_nothing",
    .title = "idle: nothing to do",
    .unit = "percent of the quiet mean step",
    .summary = "Idle time of the GPU after the last kernel that begins in the step.",
    .formula = "second of the causes in docs/interference.md#gpus",
    .reading = "The step goes on without the GPU.",
    .better = Better::less,
    .from = "streams of GPUs and the calls that launch their work, in the training's archive",
    .source = "docs/interference.md",
    .places = {{"gpu_effects.csv", "effect_percent", "measure is gpu_idle_nothing"},
               {"gpu_steps.csv", "idle_nothing_ns"}},
};

}  // namespace analysis::metric
