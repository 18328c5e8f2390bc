// Whether runs differ.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard p_alike{
    .name = "p_alike",
    .unit = "probability",
    .summary = "p of homogeneity: how often runs with equal true effects would differ as much as these.",
    .formula = "Welch's test (analysis of variance with unequal variances) of equal means over runs, or parts",
    .reading = "Small: they differ by more than their blocks explain.",
    .better = Better::neither,
    .from = "the effects of several runs or parts",
    .source = "Welch 1951",
    .places = {{"pooled.csv", "p_alike"}},
};

}  // namespace analysis::metric
