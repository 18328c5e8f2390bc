// Time of a step in which an exchange kernel runs while another kernel computes.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard gpu_exchange_overlapped{
    .name = "gpu_exchange_overlapped",
    .title = "exchange beside computing",
    .unit = "percent of the quiet mean step",
    .summary = "Time of a step in which an exchange kernel runs while another kernel computes.",
    .formula = "length of gpu_exchange and gpu_busy at once",
    .reading = "The share of gpu_exchange that is hidden.",
    .better = Better::more,
    .from = "streams of GPUs and the calls that launch their work, in the training's archive",
    .source = "HTA's communication computation overlap",
    .places = {{"gpu_effects.csv", "effect_percent", "measure is gpu_exchange_overlapped"},
               {"gpu_steps.csv", "exchange_overlapped_ns"}},
};

}  // namespace analysis::metric
