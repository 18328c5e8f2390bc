// How much a noise moved.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard bytes_per_s{
    .name = "bytes_per_s",
    .title = "moved",
    .unit = "bytes per second",
    .summary = "What the noise read or wrote per second for which it was assigned, by its own record.",
    .formula = "bytes / time assigned by the slot table, that of taking memory included",
    .reading = "The dose. It depends on the victim, so no verdict rests on it.",
    .better = Better::neither,
    .from = "records of the noise processes",
    .source = "docs/formats.md, noise.json",
    .places = {{"factor_levels.csv", "bytes_per_s"}},
};

}  // namespace analysis::metric
