// Time of a step in which a copy runs while a kernel computes.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard gpu_copy_overlapped{
    .name = "gpu_copy_overlapped",
    .title = "copies beside computing",
    .unit = "percent of the quiet mean step",
    .summary = "Time of a step in which a copy runs while a kernel computes.",
    .formula = "length of gpu_copy and gpu_busy at once",
    .reading = "The share of gpu_copy that is hidden.",
    .better = Better::more,
    .from = "streams of GPUs and the calls that launch their work, in the training's archive",
    .source = "HTA",
    .places = {{"gpu_effects.csv", "effect_percent", "measure is gpu_copy_overlapped"},
               {"gpu_steps.csv", "copy_overlapped_ns"}},
};

}  // namespace analysis::metric
