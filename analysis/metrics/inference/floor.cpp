// What sets of runs could not have shown.
#include "analysis/metrics/metric.hpp"
#include "base/contract/run_directory.hpp"

namespace analysis::metric {

extern const MetricCard floor{
    .name = "floor",
    .title = "A/A floor",
    .unit = "percent of the quiet mean step",
    .summary = "Half width that quiet runs against quiet runs would have, as many on each side.",
    .formula = "t x standard deviation of the quiet runs x sqrt(2 / runs)",
    .reading = "An effect below it is nothing that these runs could show.",
    .better = Better::less,
    .from = "mean steps of the quiet runs",
    .source = "docs/statistics.md, sets of runs",
    .places = {{base::file::verdict, "floor_percent", "of compare"}},
};

}  // namespace analysis::metric
