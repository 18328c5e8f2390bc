// Own work of the slowest rank.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard critical_compute{
    .name = "critical_compute",
    .title = "own work, slowest rank",
    .unit = "percent of the quiet mean step",
    .summary = "Own work until the last gradients of the slowest rank were ready.",
    .formula = "last bucket ready on the last rank - begin of the step (mean over ranks)",
    .reading = "What a noise does to computing; the others wait for this rank.",
    .better = Better::less,
    .from = "regions `bucket_ready` and `bucket_exchange` of the training's archive",
    .source = "docs/statistics.md, where a delay comes from",
    .places = {{"measures.csv", "effect_percent", "measure is critical_compute"}},
};

}  // namespace analysis::metric
