// What a slowdown is made of.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard part_of_slowdown{
    .name = "part_of_slowdown",
    .title = "own work",
    .unit = "percent of the quiet mean step",
    .summary = "How much longer a part of a rank's step is: own work, input, checkpoint, waiting, transfer.",
    .formula = "mean of the part under the noise - mean without",
    .reading = "The parts of the critical rank add up to the slowdown, with what stays unexplained.",
    .better = Better::less,
    .from = "regions and exchanges of the training's archive",
    .source = "docs/statistics.md, what a slowdown is made of",
    .places = {{"decomposition.csv", "effect_percent"},
               {"decomposition.csv", "low_percent"},
               {"decomposition.csv", "high_percent"},
               {"rank_parts.csv", "effect_percent"},
               {"rank_parts.csv", "low_percent"},
               {"rank_parts.csv", "high_percent"},
               {"own_work.csv", "effect_percent"},
               {"own_work.csv", "low_percent"},
               {"own_work.csv", "high_percent"},
               {"causes.csv", "effect_percent"},
               {"causes.csv", "region_percent"},
               {"causes.csv", "waiting_percent"}},
};

}  // namespace analysis::metric
