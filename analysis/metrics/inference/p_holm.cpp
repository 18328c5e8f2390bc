// Whether an effect may be chance, all tests together.
#include "analysis/metrics/metric.hpp"
#include "base/contract/run_directory.hpp"

namespace analysis::metric {

extern const MetricCard p_holm{
    .name = "p_holm",
    .title = "p after Holm",
    .unit = "probability",
    .summary = "How often chance alone would give an effect as far from zero, corrected for the number of tests.",
    .formula = "Holm's step-down over noises and phases of the same rank",
    .reading = "Small: not chance. It does not say how large the effect is.",
    .better = Better::neither,
    .from = "p",
    .source = "Holm 1979",
    .places = {{base::file::effects, "p_holm"}, {"verdicts.csv", "p_holm"}, {"compare.csv", "p_holm"}},
};

}  // namespace analysis::metric
