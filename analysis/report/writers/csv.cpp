// SPDX-License-Identifier: Apache-2.0
#include "base/csv.hpp"

#include "analysis/report/writers/text.hpp"
#include "analysis/results/identity.hpp"
#include "analysis/results/numbers.hpp"
#include "analysis/results/record.hpp"
#include "base/contract/run_directory.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace analysis {

namespace {

// One row per factor and level: the run's identity, the verdict, its effect, forecast, cause and setting.
void write_verdicts(const std::filesystem::path& file, const Report& report)
{
    base::CsvWriter table{file,
                          {"hosts",
                           "model",
                           "data",
                           "strategy",
                           "ranks",
                           "started",
                           "trustworthy",
                           "covered",
                           "factor",
                           "level",
                           "stressor",
                           "kind",
                           "verdict",
                           "budget_percent",
                           "effect_percent",
                           "low_percent",
                           "high_percent",
                           "half_width_percent",
                           "p_holm",
                           "forecast_minutes",
                           "forecast_half_width_percent",
                           "phase",
                           "mechanism",
                           "cause",
                           "setting"}};
    const Identity run = identity(report);
    const Verdict& verdict = report.verdict;
    for (const FactorVerdict& factor : verdict.factors) {
        const auto forecast = [&](double Forecast::*member) {
            return factor.forecast ? fixed((*factor.forecast).*member, 4) : std::string{};
        };
        table.row(base::join_words(run.hosts, " "), run.model, run.data, run.strategy, run.ranks, run.started,
                  verdict.trustworthy ? 1 : 0, verdict.covered ? 1 : 0, factor.factor, factor.level, factor.stressor,
                  text(factor.kind), factor.verdict, verdict.budget_percent, factor.percent, factor.interval.low,
                  factor.interval.high, factor.interval.half_width(), factor.p_holm, forecast(&Forecast::minutes),
                  forecast(&Forecast::half_width_percent), factor.cause.phase, text(factor.cause.mechanism),
                  factor.cause.sentence, factor.setting.text);
    }
}

}  // namespace

std::vector<Table> tables(const Report& report)
{
    std::vector<Table> all{{base::file::verdicts, write_verdicts, true}};
    for (Table& table : of_sections(&Section::tables, report)) all.push_back(std::move(table));
    return all;
}

}  // namespace analysis
