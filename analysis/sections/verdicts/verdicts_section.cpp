// SPDX-License-Identifier: Apache-2.0
// The table of the verdicts.
#include "analysis/results/identity.hpp"
#include "analysis/results/numbers.hpp"
#include "analysis/sections/section.hpp"
#include "base/contract/run_directory.hpp"
#include "base/csv.hpp"
#include "base/words.hpp"

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
                  text(factor.kind), factor.verdict, verdict.budget_percent, factor.percent.value, factor.interval.low,
                  factor.interval.high, factor.interval.half_width(), factor.p_holm, forecast(&Forecast::minutes),
                  forecast(&Forecast::half_width_percent), factor.cause.phase, text(factor.cause.mechanism),
                  factor.cause.sentence, factor.setting.text);
    }
}

}  // namespace

namespace section {

extern const Section verdicts{
    .tables = [](const Report&) -> std::vector<Table> {
        return {{base::file::verdicts, write_verdicts, true}};
    },
};

}  // namespace section

}  // namespace analysis
