// How much a noise did at a level.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard dose{
    .name = "dose",
    .title = "dose",
    .unit = "as the column unit says",
    .summary = "What the level achieved on average, or was asked for where that is not on record.",
    .formula = "bytes, operations or time on / time",
    .reading = "The x axis of a response curve.",
    .better = Better::neither,
    .from = "records of the noise processes",
    .source = "docs/statistics.md, response curves",
    .places = {{"response.csv", "dose"}, {"response_points.csv", "dose"}},
};

}  // namespace analysis::metric
