// How uneven steps are.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard variability{
    .name = "variability",
    .title = "standard deviation",
    .unit = "percent of the quiet mean step",
    .summary = "The effect on the standard deviation, or the coefficient of variation, of steps.",
    .formula = "deviation of the steps wholly under the noise - that of quiet steps",
    .reading = "What grows here makes waiting of many ranks grow.",
    .better = Better::less,
    .from = "steps wholly under a treatment, outliers included",
    .source = "docs/statistics.md, tails and variability",
    .places = {{"measures.csv", "effect_percent", "measure is standard deviation"},
               {"measures.csv", "effect_percent", "measure is coefficient of variation"}},
};

}  // namespace analysis::metric
