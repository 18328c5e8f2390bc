// How many steps an accident made slow.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard outliers{
    .name = "outliers",
    .title = "outliers, share of steps",
    .unit = "percent of the steps under the same noise",
    .summary = "Share of steps that are much slower than the usual step under the same noise.",
    .formula = "steps beyond their centre by more than five robust standard deviations (MAD) / all steps",
    .reading = "Not in the slowdown, unless too many for accidents. More than in quiet: the noise causes stalls.",
    .better = Better::less,
    .from = "residuals of the steps, block by block",
    .source = "docs/statistics.md, long steps",
    .places = {{"outliers.csv", "percent_of_steps"}},
};

}  // namespace analysis::metric
