// Whether an effect may be chance.
#include "analysis/metrics/metric.hpp"
#include "base/contract/run_directory.hpp"

namespace analysis::metric {

extern const MetricCard p{
    .name = "p",
    .unit = "probability",
    .summary = "How often chance alone would give an effect as far from zero.",
    .formula = "re-randomisation: labels of treatments exchanged within blocks, as the design could have drawn them",
    .reading = "Small: not chance. Many tests have some small p by chance: see p_holm.",
    .better = Better::neither,
    .from = "steps and slots of the run, block by block",
    .source = "docs/statistics.md, the estimator",
    .places = {{base::file::effects, "p"}, {"measures.csv", "p"}, {"outliers.csv", "p", "of the share of outliers"}},
};

}  // namespace analysis::metric
