// What a noise costs the median step.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard median_step{
    .name = "median_step",
    .title = "effect on the median step",
    .unit = "percent of the quiet mean step",
    .summary = "How much longer the median step takes while the noise is on.",
    .formula = "as slowdown, of medians of the steps that lie wholly under one treatment",
    .reading = "A mean far above it: few steps got much slower. Both alike: all steps got a little slower.",
    .better = Better::less,
    .from = "steps and slots of the run, block by block",
    .source = "docs/statistics.md, the estimator",
    .places = {{"measures.csv", "effect_percent", "measure is median step"}},
};

}  // namespace analysis::metric
