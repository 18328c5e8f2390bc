// When a rank's gradients were ready.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard ready_rank{
    .name = "ready_rank",
    .title = "ready",
    .unit = "percent of the quiet mean step",
    .summary = "Time until the last gradients of that rank were ready.",
    .formula = "last bucket ready on rank N - begin of the step on it",
    .reading = "Names the slow rank, which the wall time of a phase that waits does not.",
    .better = Better::less,
    .from = "regions `bucket_ready` and `bucket_exchange` of the training's archive",
    .source = "docs/statistics.md, where a delay comes from",
    .places = {{"measures.csv", "effect_percent", "measure is ready rank N"}},
};

}  // namespace analysis::metric
