// Whether noise was there when it should have been.
#include "analysis/metrics/metric.hpp"
#include "base/contract/run_directory.hpp"

namespace analysis::metric {

extern const MetricCard coverage{
    .name = "coverage",
    .title = "Noise covered the training",
    .unit = "percent of the training's time after its warm-up",
    .summary = "Share of the training's time that slots of noise or quiet cover, on the rank with the least.",
    .formula = "time in slots / time after the warm-up",
    .reading = "Below nine tenths a report is not trustworthy.",
    .better = Better::more,
    .from = "slots and the noise's own record",
    .source = "docs/formats.md, covered",
    .places = {{base::file::verdict, "covered_percent"}, {"verdicts.csv", "covered"}},
};

}  // namespace analysis::metric
