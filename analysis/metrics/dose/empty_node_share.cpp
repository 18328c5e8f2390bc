// The harvest.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard empty_node_share{
    .name = "empty_node_share",
    .title = "of its speed on an empty node",
    .unit = "percent",
    .summary = "What the noise gets done beside the training, of what it gets done alone.",
    .formula = "speed beside the training / speed in the run of --empty-node",
    .reading = "Above what the training loses, sharing pays.",
    .better = Better::more,
    .from = "noise.csv of both runs",
    .source = "docs/interference.md",
    .places = {{"harvest.csv", "empty_node_percent"},
               {"harvest.csv", "empty_node_low_percent"},
               {"harvest.csv", "empty_node_high_percent"}},
};

}  // namespace analysis::metric
