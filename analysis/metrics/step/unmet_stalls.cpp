// How rare a stall a run would have met.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard unmet_stalls{
    .name = "unmet_stalls",
    .title = "stalls not met, one step in",
    .unit = "steps",
    .summary = "One step in so many may be a stall that the run has not met.",
    .formula = "steps / 3.69 (half of the 97.5 % quantile of chi-square with 2 degrees of freedom); 0 with outliers",
    .reading = "A longer run meets rarer stalls.",
    .better = Better::more,
    .from = "steps without outliers",
    .source = "docs/statistics.md, long steps",
    .places = {{"outliers.csv", "unmet_one_in"}},
};

}  // namespace analysis::metric
