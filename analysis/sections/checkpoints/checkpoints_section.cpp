// SPDX-License-Identifier: Apache-2.0
// Section on checkpoints that noise asks for: their cost to the steps between them.
#include "analysis/results/numbers.hpp"
#include "analysis/sections/checkpoints/checkpoints.hpp"
#include "analysis/sections/section.hpp"
#include "base/contract/factor_name.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"

#include <nlohmann/json.hpp>

namespace analysis {

namespace {

using base::join;
using Costs = std::vector<CheckpointCost>;

constexpr const char* checkpoints_file = "requested_checkpoints.csv";

void estimate_costs(Report& report, const SectionInput&)
{
    report.kept.of<Costs>() = checkpoint_costs(report.run, report.analysis);
}

std::vector<std::string> sentences_of_costs(const Report& report)
{
    std::vector<std::string> all;
    for (const CheckpointCost& cost : report.kept.of<Costs>()) {
        const std::string written =
            cost.checkpoints > 0 ? join("a checkpoint takes ", fixed(cost.checkpoint_ms, 2), " ms of its step (",
                                        counted(cost.checkpoints, "checkpoint"), "); the steps between, without that,")
                                 : "no step marks the phase checkpoint; steps in its slots";
        all.push_back(join(
            base::factor_name(cost.factor, cost.level), ": ", written, " cost ", signed_percent(cost.percent.value),
            " (", range(cost.percent.interval(report.verdict.confidence)), ", ", counted(cost.between, "step"), ")."));
    }
    return all;
}

void write_costs(const std::filesystem::path& file, const Report& report)
{
    base::CsvWriter table{file,
                          {"factor", "level", "checkpoints", "checkpoint_ms", "steps_between", "effect_percent",
                           "low_percent", "high_percent"}};
    for (const CheckpointCost& cost : report.kept.of<Costs>()) {
        const Interval interval = cost.percent.interval(report.verdict.confidence);
        table.row(cost.factor, cost.level, cost.checkpoints, cost.checkpoint_ms, cost.between, cost.percent.value,
                  interval.low, interval.high);
    }
}

}  // namespace

namespace section {

extern const Section checkpoints{
    .estimate = estimate_costs,
    .tables = [](const Report& report) -> std::vector<Table> {
        if (report.kept.of<Costs>().empty()) return {};
        return {{checkpoints_file, write_costs}};
    },
    .sentences = sentences_of_costs,
    .terminal = sentences_of_costs,
    .markdown_title = "Checkpoints",
    .markdown = sentences_of_costs,
    .json =
        [](nlohmann::ordered_json& verdict, const Report& report) {
            for (const CheckpointCost& cost : report.kept.of<Costs>()) {
                const Interval interval = cost.percent.interval(report.verdict.confidence);
                verdict["checkpoints"].push_back({{"factor", cost.factor},
                                                  {"level", cost.level},
                                                  {"checkpoints", cost.checkpoints},
                                                  {"checkpoint_ms", cost.checkpoint_ms},
                                                  {"steps_between", cost.between},
                                                  {"effect_percent", cost.percent.value},
                                                  {"low_percent", interval.low},
                                                  {"high_percent", interval.high}});
            }
        },
};

}  // namespace section

}  // namespace analysis
