// How much a noise did.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard operations_per_s{
    .name = "operations_per_s",
    .title = "operations",
    .unit = "operations per second",
    .summary = "What the noise did per second for which it was assigned, by its own record.",
    .formula = "operations / time assigned by the slot table, that of taking memory included",
    .reading = "The dose, as bytes_per_s; what an operation is depends on the stressor.",
    .better = Better::neither,
    .from = "records of the noise processes",
    .source = "docs/formats.md, noise.json",
    .places = {{"factor_levels.csv", "operations_per_s"}},
};

}  // namespace analysis::metric
