// What a setting leaves to the neighbour.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard unlimited_share{
    .name = "unlimited_share",
    .title = "of its speed without the limit",
    .unit = "percent",
    .summary = "What the noise gets done under a setting, of what it gets done without.",
    .formula = "speed at limit=.. or sched=.. / speed at none or other",
    .reading = "Beside the slowdown that is left it prices the setting.",
    .better = Better::more,
    .from = "noise.csv of the run",
    .source = "docs/limits.md",
    .places = {{"harvest.csv", "unlimited_percent"},
               {"harvest.csv", "unlimited_low_percent"},
               {"harvest.csv", "unlimited_high_percent"}},
};

}  // namespace analysis::metric
