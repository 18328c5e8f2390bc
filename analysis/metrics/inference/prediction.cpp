// Where one more run would lie.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard prediction{
    .name = "prediction",
    .title = "one more run",
    .unit = "percent of the quiet mean step",
    .summary = "Interval in which the effect of one more run is expected.",
    .formula = "Student's t with runs - 2 degrees of freedom, of tau and the mean's error together",
    .reading = "Wider than the interval of the mean: what a single next run may show.",
    .better = Better::less,
    .from = "the effects of three runs or more",
    .source = "Higgins, Thompson, Spiegelhalter 2009",
    .places = {{"pooled.csv", "prediction_low_percent"}, {"pooled.csv", "prediction_high_percent"}},
};

}  // namespace analysis::metric
