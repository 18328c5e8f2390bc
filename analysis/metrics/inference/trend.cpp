// How an effect changes over time.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard trend{
    .name = "trend",
    .title = "change",
    .unit = "percentage points",
    .summary = "How much the slowdown changed from the first run to the last.",
    .formula = "slope of a least squares line x time from first to last; Student's t, runs - 2 degrees of freedom",
    .reading = "An interval without zero: something changed, such as a kernel, a library or the neighbours.",
    .better = Better::neither,
    .from = "the slowdowns of the trustworthy runs of one training, the run as the unit",
    .source = "ordinary least squares",
    .places = {{"trends.csv", "change_percent"}, {"trends.csv", "low_percent"}, {"trends.csv", "high_percent"}},
};

}  // namespace analysis::metric
