// What the neighbour gets done.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard achieved{
    .name = "achieved",
    .title = "speed of the neighbour",
    .unit = "bytes or operations per second",
    .summary = "What the noise got done while it was on, by its own record.",
    .formula = "bytes or operations / time on, mean over its slots",
    .reading = "Beside what it gets on an empty node it says what sharing costs the neighbour.",
    .better = Better::more,
    .from = "noise.csv of the noise processes",
    .source = "docs/interference.md",
    .places = {{"harvest.csv", "per_s"}},
};

}  // namespace analysis::metric
