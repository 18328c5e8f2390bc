// Where the training's time is.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard time_share{
    .name = "time_share",
    .title = "time, by treatment and reason",
    .unit = "seconds; percent of the rank's time",
    .summary = "Time of the steps that begin under a treatment, used or left out.",
    .formula = "sum over steps of the time to the next step's begin",
    .reading = "Rows of a rank add up to all of its time between the first and the last slot.",
    .better = Better::neither,
    .from = "steps and slots, by rank",
    .source = "docs/statistics.md, the estimator",
    .places = {{"time.csv", "seconds"}, {"time.csv", "share_percent"}},
};

}  // namespace analysis::metric
