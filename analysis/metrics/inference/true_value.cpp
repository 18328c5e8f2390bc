// What a control truly was.
#include "analysis/metrics/metric.hpp"
#include "base/contract/run_directory.hpp"

namespace analysis::metric {

extern const MetricCard true_value{
    .name = "true_value",
    .unit = "percent of the quiet mean step",
    .summary = "What a control did by its own record; of a placebo nothing.",
    .formula = "100 x recorded delay, or time stopped, of a step / mean quiet step",
    .reading = "The measured effect must come out as this, or the report is not trustworthy.",
    .better = Better::neither,
    .from = "the training's record of the delay, or the noise's of its pauses",
    .source = "docs/statistics.md, controls",
    .places = {{"effects_step.csv", "true_percent"}, {base::file::verdict, "controls.delay.true_percent"}},
};

}  // namespace analysis::metric
