// What a noise costs the step: the number that a verdict is about.
#include "analysis/metrics/metric.hpp"
#include "base/contract/run_directory.hpp"

namespace analysis::metric {

extern const MetricCard slowdown{
    .name = "slowdown",
    .title = "Slowdown of a step",
    .unit = "percent of the quiet mean step",
    .summary = "How much longer a step takes while the noise is on.",
    .formula = "100 x (step under the noise / quiet step - 1), steps as total time over total work of all blocks",
    .reading = "Compare its whole interval with the budget, not the estimate alone.",
    .better = Better::less,
    .from = "steps and slots of the run, block by block",
    .source = "docs/statistics.md, the estimator",
    .places = {{"verdicts.csv", "effect_percent"},
               {base::file::effects, "effect_percent", "phase is step"},
               {"measures.csv", "effect_percent", "measure is step with outliers"},
               {"measures.csv", "effect_percent", "measure is step without outliers"},
               {"effects_step.csv", "effect_percent"},
               {"pooled.csv", "effect_percent", "phase is step"},
               {"runs.csv", "effect_percent"},
               {"runs_plot.csv", "effect_percent"},
               {"compare.csv", "effect_percent", "phase is step"},
               {"summary.csv", "effect_percent"},
               {"trend_plot.csv", "effect_percent"},
               {base::file::verdict, "factors.<name>.effect_percent"}},
};

}  // namespace analysis::metric
