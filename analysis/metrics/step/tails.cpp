// The slowest steps.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard tails{
    .name = "tails",
    .title = "p95 of steps",
    .unit = "percent of the quiet mean step",
    .summary = "The effect on the 95th, or 99th, percentile of the step.",
    .formula = "percentile of the steps wholly under the noise - that of quiet steps",
    .reading = "Larger than the slowdown: the noise makes steps uneven.",
    .better = Better::less,
    .from = "steps wholly under a treatment, outliers included",
    .source = "docs/statistics.md, tails and variability",
    .places = {{"measures.csv", "effect_percent", "measure is p95 step"},
               {"measures.csv", "effect_percent", "measure is p99 step"}},
};

}  // namespace analysis::metric
