// What a shared node is worth.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard node_worth{
    .name = "node_worth",
    .title = "worth per node hour",
    .unit = "as --node-hour-cost",
    .summary = "What the training loses and the neighbour gets of the price of a node hour.",
    .formula = "price x loss of speed; price x share of CPUs x share of speed",
    .reading = "Sharing pays where the second is larger.",
    .better = Better::neither,
    .from = "the slowdown, CPUs of the noise, --node-hour-cost",
    .source = "docs/interference.md",
    .places = {{"harvest.csv", "training_speed_percent"},
               {"harvest.csv", "noise_cpus"},
               {"harvest.csv", "idle_cpus"},
               {"harvest.csv", "training_loses_per_node_hour"},
               {"harvest.csv", "neighbour_gets_per_node_hour"}},
};

}  // namespace analysis::metric
