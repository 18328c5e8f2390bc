// How much a noise moved.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard bytes_per_s{
    .name = "bytes_per_s",
    .title = "moved while on",
    .unit = "bytes per second",
    .summary = "What the noise read or wrote per second while it was on, by its own record.",
    .formula = "bytes / time on",
    .reading = "The dose. It depends on the victim, so no verdict rests on it.",
    .better = Better::neither,
    .from = "records of the noise processes",
    .source = "docs/formats.md, noise.json",
    .places = {{"factor_levels.csv", "bytes_per_s"}},
};

}  // namespace analysis::metric
