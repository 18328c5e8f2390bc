// What a run could have found.
#include "analysis/metrics/metric.hpp"
#include "base/contract/run_directory.hpp"

namespace analysis::metric {

extern const MetricCard detectable{
    .name = "detectable",
    .title = "smallest effect this run could have found",
    .unit = "percent of the quiet mean step",
    .summary = "The effect that a run of this kind finds in 80 % of cases.",
    .formula = "(t(confidence) + t(80 %)) x standard error over blocks",
    .reading = "An undecided noise may cost up to this. Smaller with more blocks.",
    .better = Better::less,
    .from = "the spread of the effect over blocks",
    .source = "docs/statistics.md, how long a run must be",
    .places = {{base::file::verdict, "detectable_percent"}},
};

}  // namespace analysis::metric
