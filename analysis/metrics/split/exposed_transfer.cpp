// Transfer that computing does not hide.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard exposed_transfer{
    .name = "exposed_transfer",
    .title = "transfer",
    .unit = "percent of the quiet mean step",
    .summary = "Exchange that is left when the slowest rank has its gradients ready.",
    .formula = "last bucket back on the last rank - last bucket ready on the last rank",
    .reading = "What a noise does to the network, and to the threads that drive it.",
    .better = Better::less,
    .from = "regions `bucket_ready` and `bucket_exchange` of the training's archive",
    .source = "docs/statistics.md, where a delay comes from",
    .places = {{"measures.csv", "effect_percent", "measure is exposed_transfer"}},
};

}  // namespace analysis::metric
