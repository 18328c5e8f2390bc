// How long a bucket of gradients was exchanged.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard exchange_bucket{
    .name = "exchange_bucket",
    .unit = "percent of the quiet mean step",
    .summary = "Time in the exchange of that bucket of gradients, mean over ranks.",
    .formula = "end - begin of the exchange of bucket N, mean over ranks",
    .reading = "Overlaps with other work: a bucket may take longer without making the step longer.",
    .better = Better::less,
    .from = "regions `bucket_exchange` of the training's archive",
    .source = "docs/formats.md, measures.csv",
    .places = {{"measures.csv", "effect_percent", "measure is exchange bucket N"}},
};

}  // namespace analysis::metric
