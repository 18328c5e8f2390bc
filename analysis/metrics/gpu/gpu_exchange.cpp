// Time of a step in which an exchange kernel runs.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard gpu_exchange{
    .name = "gpu_exchange",
    .title = "exchange kernels",
    .unit = "percent of the quiet mean step",
    .summary = "Time of a step in which an exchange kernel runs.",
    .formula = "union over the GPU's streams of kernels of NCCL or RCCL, clipped to the step; mean over GPUs",
    .reading = "Includes waiting for other ranks.",
    .better = Better::less,
    .from = "streams of GPUs and the calls that launch their work, in the training's archive",
    .source = "HTA",
    .places = {{"gpu_effects.csv", "effect_percent", "measure is gpu_exchange"}, {"gpu_steps.csv", "exchange_ns"}},
};

}  // namespace analysis::metric
