// The time of a training step.
#include "analysis/metrics/metric.hpp"
#include "base/contract/run_directory.hpp"

namespace analysis::metric {

extern const MetricCard step{
    .name = "step",
    .title = "quiet step",
    .unit = "ms",
    .summary = "Time from a step's begin to its end, mean over ranks.",
    .formula = "end_ns - begin_ns",
    .reading = "Ranks that exchange gradients wait for each other, so the slowest of them sets the step of all.",
    .better = Better::less,
    .from = "regions `step` of the training's archive, or a table of steps",
    .source = "docs/formats.md",
    .places = {{base::file::verdict, "quiet_step_ms"},
               {base::file::steps, "end_ns"},
               {"timeline_steps.csv", "step_ms"},
               {"runs.csv", "quiet_step_ms"},
               {"runs.csv", "mean_step_ms"},
               {"aligned_steps.csv", "quiet_ms"},
               {"aligned_steps.csv", "noisy_ms"},
               {"compare.csv", "quiet_ms"},
               {"compare.csv", "noisy_ms"}},
};

}  // namespace analysis::metric
