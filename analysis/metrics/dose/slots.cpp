// How often a noise was on.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard slots{
    .name = "slots",
    .title = "times on",
    .unit = "slots",
    .summary = "How many slots the noise was on.",
    .formula = "count",
    .reading = "Each block holds as many of each noise.",
    .better = Better::neither,
    .from = "records of the noise processes",
    .source = "docs/formats.md, noise.json",
    .places = {{"factor_levels.csv", "slots"}},
};

}  // namespace analysis::metric
