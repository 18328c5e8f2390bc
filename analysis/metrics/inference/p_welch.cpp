// Whether sets of runs differ.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard p_welch{
    .name = "p_welch",
    .title = "p (Welch)",
    .unit = "probability",
    .summary = "How often sets of runs with equal means would differ as much.",
    .formula = "Welch's t test of the logarithms of mean steps, the run as the unit",
    .reading = "Small: not chance.",
    .better = Better::neither,
    .from = "mean steps of the runs",
    .source = "Welch 1947",
    .places = {{"compare.csv", "p_welch"}},
};

}  // namespace analysis::metric
