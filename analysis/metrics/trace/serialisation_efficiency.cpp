// What dependencies between ranks cost.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard serialisation_efficiency{
    .name = "serialisation_efficiency",
    .title = "serialisation",
    .unit = "share, 0 to 1",
    .summary = "What is left after waiting for each other in turn.",
    .formula = "longest computation / longest time outside of transfer",
    .reading = "Low: ranks wait for each other though they compute as much.",
    .better = Better::more,
    .from = "MPI calls in the training's archive, all ranks' events on one clock",
    .source = "POP's metrics, modelfactors.py; Cube's advisor",
    .places = {{"pop.csv", "value", "metric is serialisation_efficiency"}},
};

}  // namespace analysis::metric
