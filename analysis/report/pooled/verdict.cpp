// SPDX-License-Identifier: Apache-2.0
// Makes verdict.json of a pooled report.
#include "analysis/report/pooled/writers.hpp"
#include "analysis/report/writers/json.hpp"

#include <nlohmann/json.hpp>

namespace analysis {

namespace {

using Json = nlohmann::ordered_json;

Json interval_json(const std::optional<Interval>& interval)
{
    if (!interval) return nullptr;
    return {{"low_percent", interval->low}, {"high_percent", interval->high}};
}

Json part_json(const NamedReport& part)
{
    return {{"name", part.name},
            {"directory", part.directory.string()},
            {"seed", part.report.seed},
            {"blocks", part.report.analysis.blocks},
            {"seconds", 60.0 * part.report.verdict.run_minutes},
            {"trustworthy", part.report.verdict.trustworthy},
            {"covered", part.report.verdict.covered}};
}

Json runs_json(const PooledReport& report)
{
    Json runs = Json::array();
    for (const auto& parts : report.runs) {
        Json own = Json::array();
        for (const NamedReport& part : parts) own.push_back(part_json(part));
        runs.push_back({{"name", parts.front().name}, {"parts", own}});
    }
    return runs;
}

Json effect_json(const PooledEffect& pooled, double confidence)
{
    Json runs = Json::array();
    for (const Mean& run : pooled.runs) {
        const Interval own = run.interval(confidence);
        runs.push_back({{"effect_percent", run.value}, {"low_percent", own.low}, {"high_percent", own.high}});
    }
    Json json;
    json["factor"] = pooled.effect.factor;
    json["level"] = pooled.effect.level;
    json["kind"] = text(pooled.effect.kind);
    json["between_runs_percent"] = pooled.between ? Json(pooled.between->between) : Json(nullptr);
    json["prediction"] = interval_json(prediction(pooled.runs, confidence));
    json["p_alike"] = pooled.p_alike;
    json["runs"] = runs;
    return json;
}

}  // namespace

Json pooled_json(const PooledReport& report, const Content& all)
{
    Json json = verdict_json(all);
    Json& pooled = json["pooled"];
    pooled["unit"] = report.of_runs() ? "run" : "block";
    pooled["method"] = report.of_runs() ? "random effects over runs (Paule-Mandel), interval of Hartung-Knapp"
                                        : "parts of one run as strata, weighted by their blocks";
    pooled["runs"] = runs_json(report);
    pooled["effects"] = Json::array();
    for (const PooledEffect* effect : step_effects(report))
        pooled["effects"].push_back(effect_json(*effect, report.all.verdict.confidence));
    pooled["differs"] = Json::array();
    for (const Difference& difference : report.differences)
        if (difference.differs) pooled["differs"].push_back(difference.property);
    return json;
}

}  // namespace analysis
