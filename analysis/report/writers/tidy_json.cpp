// SPDX-License-Identifier: Apache-2.0
#include "analysis/report/writers/json.hpp"
#include "base/contract/run_record.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

namespace analysis {

namespace {

using TidyJson = nlohmann::ordered_json;

void add_interval(TidyJson& row, double percent, const Interval& interval)
{
    row["effect_percent"] = percent;
    row["low_percent"] = interval.low;
    row["high_percent"] = interval.high;
}

TidyJson verdict_rows(const Verdict& verdict)
{
    TidyJson rows = TidyJson::array();
    for (const FactorVerdict& factor : verdict.factors) {
        TidyJson row{{"factor", factor.factor},
                     {"level", factor.level},
                     {"stressor", factor.stressor},
                     {"kind", text(factor.kind)},
                     {"verdict", factor.verdict}};
        add_interval(row, factor.percent.value, factor.interval);
        row["p_holm"] = factor.p_holm;
        row["forecast_minutes"] = factor.forecast ? TidyJson(factor.forecast->minutes) : TidyJson(nullptr);
        row["phase"] = factor.cause.phase;
        row["cause"] = factor.cause.sentence;
        row["setting"] = factor.setting.text;
        rows.push_back(std::move(row));
    }
    return rows;
}

void add_control_row(TidyJson& rows, const char* name, const std::optional<Control>& control, const TidyJson& truth)
{
    if (!control) return;
    TidyJson row;
    row["control"] = name;
    add_interval(row, control->percent.value, control->interval);
    row["true_percent"] = truth;
    row["holds"] = control->holds;
    row["judged"] = control->judged;
    rows.push_back(std::move(row));
}

TidyJson control_rows(const Verdict& verdict)
{
    const auto truth = [](const std::optional<Control>& control) {
        return control && control->connected ? TidyJson(control->true_percent) : TidyJson(nullptr);
    };
    TidyJson rows = TidyJson::array();
    add_control_row(rows, "placebo", verdict.placebo, 0.0);
    add_control_row(rows, "delay", verdict.delay, truth(verdict.delay));
    add_control_row(rows, "pause", verdict.pause, truth(verdict.pause));
    return rows;
}

TidyJson effect_rows(const Report& report)
{
    TidyJson rows = TidyJson::array();
    for (const Effect& effect : of(report.analysis.effects, Family::step)) {
        TidyJson row{{"factor", effect.factor},
                     {"level", effect.level},
                     {"phase", effect.phase},
                     {"rank", effect.rank == all_ranks ? TidyJson("all") : TidyJson(effect.rank)},
                     {"kind", text(effect.kind)}};
        add_interval(row, effect.percent.value, effect.percent.interval(report.verdict.confidence));
        row["p_holm"] = effect.p_holm;
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace

TidyJson tidy_json(const Content& content)
{
    const Report& report = content.report;
    const Identity& run = content.found.run;
    return {{"format", base::format_version},
            {"headline", content.found.text.headline},
            {"trustworthy", report.verdict.trustworthy},
            {"covered", report.verdict.covered},
            {"reasons", report.verdict.reasons},
            {"hosts", base::join_words(run.hosts, " ")},
            {"model", run.model},
            {"data", run.data},
            {"strategy", run.strategy},
            {"ranks", run.ranks},
            {"started", run.started},
            {"budget_percent", report.verdict.budget_percent},
            {"confidence_percent", 100.0 * report.verdict.confidence},
            {"quiet_step_ms", report.verdict.quiet_step_ms},
            {"blocks", report.analysis.blocks},
            {"verdicts", verdict_rows(report.verdict)},
            {"controls", control_rows(report.verdict)},
            {"effects", effect_rows(report)}};
}

}  // namespace analysis
