// Median over the step's kernels of the time from the end of a launch to the begin of its kernel.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard launch_delay_p50{
    .name = "launch_delay_p50",
    .title = "launch delay, median",
    .unit = "percent of the quiet mean step",
    .summary = "Median over the step's kernels of the time from the end of a launch to the begin of its kernel.",
    .formula = "nearest rank; 0 where the kernel begins before the call returns",
    .reading = "Short: the GPU waits for the host. Long: work is queued, and hides delays of the host.",
    .from = "streams of GPUs and the calls that launch their work, in the training's archive",
    .source = "CASITA's kernel startup delay",
    .places = {{"gpu_effects.csv", "effect_percent", "measure is launch_delay_p50"},
               {"gpu_steps.csv", "launch_delay_p50_ns"}},
};

}  // namespace analysis::metric
