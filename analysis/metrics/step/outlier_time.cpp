// The time that outliers took.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard outlier_time{
    .name = "outlier_time",
    .title = "share of time",
    .unit = "percent of the time under the same noise",
    .summary = "Share of time that went into outliers.",
    .formula = "sum of the outliers' step times / sum of all step times",
    .reading = "What the slowdown leaves out: add it to judge throughput with stalls.",
    .better = Better::less,
    .from = "residuals of the steps, block by block",
    .source = "docs/statistics.md, long steps",
    .places = {{"outliers.csv", "percent_of_time"}},
};

}  // namespace analysis::metric
