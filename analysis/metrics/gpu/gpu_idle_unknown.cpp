// Idle time of the GPU before a kernel whose launch is not in the archive.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard gpu_idle_unknown{
    .name = "gpu_idle_unknown",
    .title = "idle: launch not recorded",
    .unit = "percent of the quiet mean step",
    .summary = "Idle time of the GPU before a kernel whose launch is not in the archive.",
    .formula = "third of the causes in docs/interference.md#gpus",
    .reading = "Should be 0: else the recording dropped calls.",
    .better = Better::less,
    .from = "streams of GPUs and the calls that launch their work, in the training's archive",
    .source = "docs/interference.md",
    .places = {{"gpu_effects.csv", "effect_percent", "measure is gpu_idle_unknown"},
               {"gpu_steps.csv", "idle_unknown_ns"}},
};

}  // namespace analysis::metric
