// How long an input reader read.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard read_reader{
    .name = "read_reader",
    .unit = "percent of the quiet mean step",
    .summary = "Time of a step in which that input reader read, mean over ranks.",
    .formula = "time of reader N in reads, while a step ran, mean over ranks",
    .reading = "Overlaps with other work: what the training waits for is `load`.",
    .better = Better::less,
    .from = "locations `reader N` of the training's archive",
    .source = "docs/formats.md, measures.csv",
    .places = {{"measures.csv", "effect_percent", "measure is read reader N"}},
};

}  // namespace analysis::metric
