// Waiting for the slowest rank.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard waiting{
    .name = "waiting",
    .title = "waiting for a rank",
    .unit = "percent of the quiet mean step",
    .summary = "Time between a rank's last gradients and those of the slowest rank, mean over ranks.",
    .formula = "mean over ranks of: last bucket ready on the last rank - on this rank",
    .reading = "Grows where noise slows one rank only.",
    .better = Better::less,
    .from = "regions `bucket_ready` and `bucket_exchange` of the training's archive",
    .source = "docs/statistics.md, where a delay comes from",
    .places = {{"measures.csv", "effect_percent", "measure is waiting"}},
};

}  // namespace analysis::metric
