// 95th percentile over the step's kernels of the time from the end of a launch to the begin of its kernel.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard launch_delay_p95{
    .name = "launch_delay_p95",
    .title = "launch delay, 95th percentile",
    .unit = "percent of the quiet mean step",
    .summary =
        "95th percentile over the step's kernels of the time from the end of a launch to the begin of its kernel.",
    .formula = "nearest rank; 0 where the kernel begins before the call returns",
    .reading = "As the median, of the kernels that were queued longest.",
    .from = "streams of GPUs and the calls that launch their work, in the training's archive",
    .source = "CASITA's kernel startup delay",
    .places = {{"gpu_effects.csv", "effect_percent", "measure is launch_delay_p95"},
               {"gpu_steps.csv", "launch_delay_p95_ns"}},
};

}  // namespace analysis::metric
