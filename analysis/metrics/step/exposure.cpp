// How much of a step a noise covered.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard exposure{
    .name = "exposure",
    .title = "exposure",
    .unit = "share, 0 to 1",
    .summary = "Share of a step's time in which the noise was assigned, by the slot table of the job.",
    .formula = "overlap of the step with the noise's slots / length of the step",
    .reading = "Assigned, not achieved: a rank that waits for a noisy peer is under the same treatment.",
    .better = Better::neither,
    .from = "steps and slots on the clock of each node",
    .source = "docs/statistics.md, the design",
    .places = {{"exposure.csv", "<factor>"}},
};

}  // namespace analysis::metric
