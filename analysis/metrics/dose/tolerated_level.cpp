// How hard the neighbour may push.
#include "analysis/metrics/metric.hpp"
#include "base/contract/run_directory.hpp"

namespace analysis::metric {

extern const MetricCard tolerated_level{
    .name = "tolerated_level",
    .title = "tolerated level",
    .unit = "that of the dose",
    .summary = "The level at which the response curve reaches the budget.",
    .formula = "the dose where the fitted effect is the budget; its interval inverts a t test",
    .reading = "Up to the lower end of its interval the noise is safe.",
    .better = Better::neither,
    .from = "effects of the levels",
    .source = "docs/statistics.md, response curves",
    .places = {{base::file::verdict, "tolerated_level"}},
};

}  // namespace analysis::metric
