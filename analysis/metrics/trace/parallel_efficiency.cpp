// What of the time is computation.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard parallel_efficiency{
    .name = "parallel_efficiency",
    .title = "parallel efficiency",
    .unit = "share, 0 to 1",
    .summary = "How much of the time of all ranks is computation.",
    .formula = "load balance x communication",
    .reading = "What more ranks are worth.",
    .better = Better::more,
    .from = "MPI calls in the training's archive, all ranks' events on one clock",
    .source = "POP's metrics, modelfactors.py; Cube's advisor",
    .places = {{"pop.csv", "value", "metric is parallel_efficiency"}},
};

}  // namespace analysis::metric
