// Whether sets of runs differ, by ranks.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard p_mann_whitney{
    .name = "p_mann_whitney",
    .title = "p (Mann–Whitney)",
    .unit = "probability",
    .summary = "As p_welch, by the order of the runs alone.",
    .formula = "Mann and Whitney's rank sum test",
    .reading = "It asks for no distribution, and cannot be small with few runs.",
    .better = Better::neither,
    .from = "mean steps of the runs",
    .source = "Mann and Whitney 1947",
    .places = {{"compare.csv", "p_mann_whitney"}},
};

}  // namespace analysis::metric
