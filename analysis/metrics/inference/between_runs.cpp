// What changes from run to run.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard between_runs{
    .name = "between_runs",
    .title = "heterogeneity",
    .unit = "percentage points",
    .summary = "Standard deviation of the true effect from run to run.",
    .formula = "tau after Paule and Mandel",
    .reading = "Large beside the effect: placement, pages or neighbours matter as much as the noise.",
    .better = Better::less,
    .from = "the effects of several runs of one design",
    .source = "Paule and Mandel 1982",
    .places = {{"pooled.csv", "between_runs_percent"}},
};

}  // namespace analysis::metric
