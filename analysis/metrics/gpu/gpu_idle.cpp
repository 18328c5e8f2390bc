// Time of a step in which no kernel computes.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard gpu_idle{
    .name = "gpu_idle",
    .title = "GPU idle",
    .unit = "percent of the quiet mean step",
    .summary = "Time of a step in which no kernel computes.",
    .formula = "step - gpu_busy",
    .reading = "Its causes say what the GPU waited for.",
    .better = Better::less,
    .from = "streams of GPUs and the calls that launch their work, in the training's archive",
    .source = "CASITA's compute idle; HTA",
    .places = {{"gpu_effects.csv", "effect_percent", "measure is gpu_idle"}, {"gpu_steps.csv", "idle_ns"}},
};

}  // namespace analysis::metric
