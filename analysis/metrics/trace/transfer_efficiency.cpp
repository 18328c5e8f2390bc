// What moving data costs.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard transfer_efficiency{
    .name = "transfer_efficiency",
    .title = "transfer efficiency",
    .unit = "share, 0 to 1",
    .summary = "What is left after moving data.",
    .formula = "longest time outside of transfer / longest run",
    .reading = "Low: the network, or what drives it, is slow.",
    .better = Better::more,
    .from = "MPI calls in the training's archive, all ranks' events on one clock",
    .source = "POP's metrics, modelfactors.py; Cube's advisor",
    .places = {{"pop.csv", "value", "metric is transfer_efficiency"}},
};

}  // namespace analysis::metric
