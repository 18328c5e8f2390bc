// What made others wait.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard delay_cost{
    .name = "delay_cost",
    .title = "delay cost",
    .unit = "seconds",
    .summary = "How long others waited because of a region on a rank.",
    .formula =
        "excess of the late rank since it last met the others, spread over the waiting it caused; direct and passed on",
    .reading = "The largest names the rank and the region to mend.",
    .better = Better::less,
    .from = "MPI calls in the training's archive, all ranks' events on one clock",
    .source = "Scalasca; CASITA",
    .places = {{"path.csv", "delay_cost_seconds"}},
};

}  // namespace analysis::metric
