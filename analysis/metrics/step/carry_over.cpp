// What a noise leaves behind.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard carry_over{
    .name = "carry_over",
    .title = "carry-over",
    .unit = "percent of the quiet mean step",
    .summary = "How much longer steps in the slots after this noise are.",
    .formula = "least squares of step time on the slot and on the noises of the 1, 3 or 8 slots before",
    .reading = "Zero where slots are long enough. A placebo has none.",
    .better = Better::less,
    .from = "steps that lie wholly in a slot",
    .source = "docs/statistics.md, carry-over",
    .places = {{"carry_over.csv", "carry_over_percent"},
               {"carry_over.csv", "low_percent"},
               {"carry_over.csv", "high_percent"},
               {"carry_over.csv", "p_holm"},
               {"carry_over.csv", "long_steps_percent"}},
};

}  // namespace analysis::metric
