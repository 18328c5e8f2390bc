// What communication costs.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard communication_efficiency{
    .name = "communication_efficiency",
    .title = "communication",
    .unit = "share, 0 to 1",
    .summary = "What is left after all communication.",
    .formula = "serialisation x transfer",
    .reading = "Low: look at its two factors.",
    .better = Better::more,
    .from = "MPI calls in the training's archive, all ranks' events on one clock",
    .source = "POP's metrics, modelfactors.py; Cube's advisor",
    .places = {{"pop.csv", "value", "metric is communication_efficiency"}},
};

}  // namespace analysis::metric
