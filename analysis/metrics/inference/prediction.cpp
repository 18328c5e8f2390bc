// Where one more run would lie.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard prediction{
    .name = "prediction",
    .title = "one more run",
    .unit = "percent of the quiet mean step",
    .summary = "Interval in which the effect of one more run is expected.",
    .formula = "normal distributions of one more run, one for each variance between runs that the data allow, mixed",
    .reading = "Wider than the interval of the mean: what a single next run may show.",
    .better = Better::less,
    .from = "the effects of three runs or more",
    .source = "Nagashima, Noma, Furukawa 2019; Viechtbauer 2007",
    .places = {{"pooled.csv", "prediction_low_percent"}, {"pooled.csv", "prediction_high_percent"}},
};

}  // namespace analysis::metric
