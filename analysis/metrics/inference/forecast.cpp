// How long a run must be.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard forecast{
    .name = "forecast",
    .unit = "minutes",
    .summary = "Length of a run that would decide an undecided verdict.",
    .formula = "the half width falls with the square root of the length, and with Student's t as blocks are added",
    .reading = "It rests on the width alone: the estimate may lie anywhere in its interval.",
    .better = Better::less,
    .from = "half width and blocks of this run",
    .source = "docs/statistics.md, how long a run must be",
    .places = {{"verdicts.csv", "forecast_minutes"}, {"verdicts.csv", "forecast_half_width_percent"}},
};

}  // namespace analysis::metric
