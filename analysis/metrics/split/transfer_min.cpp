// Transfer without waiting for peers.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard transfer_min{
    .name = "transfer_min",
    .title = "shortest exchange",
    .unit = "percent of the quiet mean step",
    .summary = "Transfer time without waiting for peers.",
    .formula = "sum over buckets of the shortest exchange of any rank",
    .reading = "Grows with noise on the network, and not with a slow rank.",
    .better = Better::less,
    .from = "regions `bucket_ready` and `bucket_exchange` of the training's archive",
    .source = "docs/statistics.md, where a delay comes from",
    .places = {{"measures.csv", "effect_percent", "measure is transfer_min"}},
};

}  // namespace analysis::metric
