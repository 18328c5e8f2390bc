// How well an effect is known.
#include "analysis/metrics/metric.hpp"
#include "base/contract/run_directory.hpp"

namespace analysis::metric {

extern const MetricCard interval{
    .name = "interval",
    .title = "interval",
    .unit = "percent of the quiet mean step",
    .summary = "Where the true effect lies, with the confidence of the report.",
    .formula = "effect +- t(confidence, blocks - 1) x standard error over blocks; of several runs over runs",
    .reading = "Narrower with more blocks. It holds what this design varies, and nothing else.",
    .better = Better::less,
    .from = "steps and slots of the run, block by block",
    .source = "Student; of several runs Hartung and Knapp; docs/statistics.md",
    .places = {{"summary.csv", "low_percent"},        {"summary.csv", "high_percent"},
               {"trend_plot.csv", "low_percent"},     {"trend_plot.csv", "high_percent"},
               {"verdicts.csv", "low_percent"},       {"verdicts.csv", "high_percent"},
               {base::file::effects, "low_percent"},  {base::file::effects, "high_percent"},
               {"measures.csv", "low_percent"},       {"measures.csv", "high_percent"},
               {"pooled.csv", "low_percent"},         {"pooled.csv", "high_percent"},
               {"runs.csv", "low_percent"},           {"runs.csv", "high_percent"},
               {"effects_step.csv", "low_percent"},   {"effects_step.csv", "high_percent"},
               {"phases_effects.csv", "low_percent"}, {"phases_effects.csv", "high_percent"},
               {"runs_plot.csv", "low_percent"},      {"runs_plot.csv", "high_percent"},
               {"compare.csv", "low_percent"},        {"compare.csv", "high_percent"},
               {"verdicts.csv", "half_width_percent"}},
};

}  // namespace analysis::metric
