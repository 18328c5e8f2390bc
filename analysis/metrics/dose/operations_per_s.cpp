// How much a noise did.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard operations_per_s{
    .name = "operations_per_s",
    .title = "operations while on",
    .unit = "operations per second",
    .summary = "What the noise did per second while it was on, by its own record.",
    .formula = "operations / time on",
    .reading = "The dose, as bytes_per_s; what an operation is depends on the stressor.",
    .better = Better::neither,
    .from = "records of the noise processes",
    .source = "docs/formats.md, noise.json",
    .places = {{"factor_levels.csv", "operations_per_s"}},
};

}  // namespace analysis::metric
