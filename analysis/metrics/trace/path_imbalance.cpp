// Where the critical path is out of balance.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard path_imbalance{
    .name = "path_imbalance",
    .title = "imbalance on the path",
    .unit = "seconds",
    .summary = "What a region has on the critical path beyond its mean over ranks.",
    .formula = "max(0, time on the path - mean time over ranks)",
    .reading = "What balancing this region would gain.",
    .better = Better::less,
    .from = "MPI calls in the training's archive, all ranks' events on one clock",
    .source = "Scalasca; CASITA",
    .places = {{"path.csv", "imbalance_seconds"}},
};

}  // namespace analysis::metric
