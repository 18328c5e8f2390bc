// The rest of the step.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard after_exchange{
    .name = "after_exchange",
    .title = "after the exchange",
    .unit = "percent of the quiet mean step",
    .summary = "What of the step comes after the exchange.",
    .formula = "end of the step - last bucket back on the last rank",
    .reading = "The update and what follows it. With the two before it adds up to the step.",
    .better = Better::less,
    .from = "regions `bucket_ready` and `bucket_exchange` of the training's archive",
    .source = "docs/statistics.md, where a delay comes from",
    .places = {{"measures.csv", "effect_percent", "measure is after_exchange"}},
};

}  // namespace analysis::metric
