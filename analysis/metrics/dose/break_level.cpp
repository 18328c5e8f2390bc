// Where a noise begins to cost.
#include "analysis/metrics/metric.hpp"
#include "base/contract/run_directory.hpp"

namespace analysis::metric {

extern const MetricCard break_level{
    .name = "break_level",
    .title = "break point",
    .unit = "that of the dose",
    .summary = "The lowest level, from the highest down without a gap, whose effect is above zero.",
    .formula = "tests from the highest level down",
    .reading = "Below it nothing was seen.",
    .better = Better::neither,
    .from = "effects of the levels",
    .source = "docs/statistics.md, response curves",
    .places = {{base::file::verdict, "break_level"}},
};

}  // namespace analysis::metric
