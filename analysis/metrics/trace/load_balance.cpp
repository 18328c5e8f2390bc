// How evenly ranks compute.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard load_balance{
    .name = "load_balance",
    .title = "load balance",
    .unit = "share, 0 to 1",
    .summary = "How evenly the ranks compute.",
    .formula = "mean computation / longest computation",
    .reading = "Low: one rank computes longer, and the others wait for it.",
    .better = Better::more,
    .from = "MPI calls in the training's archive, all ranks' events on one clock",
    .source = "POP's metrics, modelfactors.py; Cube's advisor",
    .places = {{"pop.csv", "value", "metric is load_balance"}},
};

}  // namespace analysis::metric
