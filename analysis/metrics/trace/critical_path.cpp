// What the run's length is made of.
#include "analysis/metrics/metric.hpp"

namespace analysis::metric {

extern const MetricCard critical_path{
    .name = "critical_path",
    .title = "on the critical path",
    .unit = "seconds",
    .summary = "Time of a region that lies on the longest chain of causes.",
    .formula = "walked backwards from the last event; at a collective it goes on at the last to come",
    .reading = "Only what is on the path makes the run longer.",
    .better = Better::less,
    .from = "MPI calls in the training's archive, all ranks' events on one clock",
    .source = "Scalasca; CASITA",
    .places = {{"path.csv", "seconds"}},
};

}  // namespace analysis::metric
