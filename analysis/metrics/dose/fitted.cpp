// The response curve.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard fitted{
    .name = "fitted",
    .title = "fitted effect",
    .unit = "percent of the quiet mean step",
    .summary = "The effect of a level on the monotone curve over all levels.",
    .formula = "isotonic regression of the effects, weighted by their precision",
    .reading = "More noise does not cost less. Between two levels the effect is taken as linear.",
    .better = Better::less,
    .from = "effects of the levels, and what noise achieved",
    .source = "docs/statistics.md, response curves",
    .places = {{"response.csv", "effect_percent"},
               {"response.csv", "low_percent"},
               {"response.csv", "high_percent"},
               {"response.csv", "fitted_percent"},
               {"response.csv", "fitted_low_percent"},
               {"response.csv", "fitted_high_percent"},
               {"response_points.csv", "effect_percent"},
               {"response_points.csv", "low_percent"},
               {"response_points.csv", "high_percent"},
               {"response_points.csv", "fitted_percent"},
               {"response_points.csv", "fitted_low_percent"},
               {"response_points.csv", "fitted_high_percent"}},
};

}  // namespace analysis::metric
