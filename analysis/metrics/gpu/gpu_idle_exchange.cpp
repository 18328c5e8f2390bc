// Idle time of the GPU in which an exchange kernel runs, or the host waits for an exchange.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard gpu_idle_exchange{
    .name = "gpu_idle_exchange",
    .title = "idle: exchange exposed",
    .unit = "percent of the quiet mean step",
    .summary = "Idle time of the GPU in which an exchange kernel runs, or the host waits for an exchange.",
    .formula = "first of the causes in docs/interference.md#gpus",
    .reading = "Communication that computing does not hide.",
    .better = Better::less,
    .from = "streams of GPUs and the calls that launch their work, in the training's archive",
    .source = "HTA; docs/interference.md",
    .places = {{"gpu_effects.csv", "effect_percent", "measure is gpu_idle_exchange"},
               {"gpu_steps.csv", "idle_exchange_ns"}},
};

}  // namespace analysis::metric
