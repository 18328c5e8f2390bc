// Time of a step in which a copy from, to or on the GPU, or a set, runs.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard gpu_copy{
    .name = "gpu_copy",
    .title = "copies",
    .unit = "percent of the quiet mean step",
    .summary = "Time of a step in which a copy from, to or on the GPU, or a set, runs.",
    .formula = "union over the GPU's streams of copies and sets, clipped to the step; mean over GPUs",
    .reading = "Noise on memory slows copies from the host.",
    .better = Better::less,
    .from = "streams of GPUs and the calls that launch their work, in the training's archive",
    .source = "HTA",
    .places = {{"gpu_effects.csv", "effect_percent", "measure is gpu_copy"}, {"gpu_steps.csv", "copy_ns"}},
};

}  // namespace analysis::metric
