// The time of outliers beyond ordinary steps.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard outlier_excess{
    .name = "outlier_excess",
    .title = "excess time of outliers",
    .unit = "percent of the time of ordinary steps under the same noise",
    .summary = "Time that outliers took beyond ordinary steps.",
    .formula = "sum over outliers of (step time - time of an ordinary step) / time of ordinary steps",
    .reading = "By this, not by their number, outliers are charged to a noise.",
    .better = Better::less,
    .from = "residuals of the steps",
    .source = "docs/statistics.md, long steps",
    .places = {{"outliers.csv", "excess_percent"}},
};

}  // namespace analysis::metric
