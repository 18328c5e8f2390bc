// SPDX-License-Identifier: Apache-2.0
#include "analysis/report/writers/json.hpp"

#include "analysis/sections/decomposition/decomposition_section.hpp"
#include "base/contract/run_directory.hpp"
#include "base/contract/run_record.hpp"
#include "base/contract/verdict_words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace analysis {

namespace {

using Json = nlohmann::ordered_json;

Json control_json(const std::optional<Control>& control, bool with_truth)
{
    if (!control) return nullptr;
    Json json;
    json["effect_percent"] = control->percent.value;
    json["low_percent"] = control->interval.low;
    json["high_percent"] = control->interval.high;
    if (with_truth) json["true_percent"] = control->connected ? Json(control->true_percent) : Json(nullptr);
    return json;
}

Json forecast_json(const Forecast& forecast, const std::string& command)
{
    Json json;
    json["minutes"] = forecast.minutes;
    json["half_width_percent"] = forecast.half_width_percent;
    json["command"] = command;
    return json;
}

// The factor's effects on the job in a family, by phase or measure, without the step.
Json parts_json(const EffectTable& effects, Family family, const FactorVerdict& factor, double confidence)
{
    Json parts = Json::object();
    for (const Effect& effect : effects) {
        if (effect.family != family || effect.rank != all_ranks || effect.phase == "step") continue;
        if (effect.factor != factor.factor || effect.level != factor.level || effect.kind != factor.kind) continue;
        const Interval interval = effect.percent.interval(confidence);
        parts[effect.phase] = {
            {"effect_percent", effect.percent.value}, {"low_percent", interval.low}, {"high_percent", interval.high}};
    }
    return parts;
}

Json factor_json(const Report& report, const FactorVerdict& factor, const std::string& command)
{
    const Analysis& analysis = report.analysis;
    Json json;
    json["verdict"] = factor.verdict;
    json["effect_percent"] = factor.percent.value;
    json["low_percent"] = factor.interval.low;
    json["high_percent"] = factor.interval.high;
    json["minutes_missing"] = nullptr;
    if (!factor.is_open()) json["minutes_missing"] = 0.0;
    if (factor.forecast) json["minutes_missing"] = factor.forecast->minutes;
    json["cause"] = factor.cause.sentence;
    json["phase"] = factor.cause.phase;
    json["mechanism"] = text(factor.cause.mechanism);
    json["half_width_percent"] = factor.interval.half_width();
    json["why"] = factor.why;
    json["at_worst_percent"] = factor.at_worst.high;
    json["forecast"] = factor.forecast ? forecast_json(*factor.forecast, command) : nullptr;
    json["stressor"] = factor.stressor;
    json["level"] = factor.level;
    json["kind"] = text(factor.kind);
    json["p_holm"] = factor.p_holm;
    json["setting"] = factor.setting.text;
    json["detectable_percent"] = detectable_percent(factor.percent, report.verdict.confidence_each);
    json["confidence_percent"] = 100.0 * factor.confidence;
    if (const Effect* median =
            find(analysis.effects, factor.factor, factor.level, factor.kind, "median step", all_ranks, Family::measure))
        json["median_effect_percent"] = median->percent.value;
    for (const AccidentRate& rate : analysis.accident_rates) {
        if (rate.factor != factor.factor || rate.level != factor.level) continue;
        json["outliers_percent_of_steps"] = rate.percent_of_steps;
        json["outliers_p"] = rate.p;
    }
    json["decomposition"] = factor.cause.made_of ? json_of(*factor.cause.made_of) : Json(nullptr);
    json["phases"] = parts_json(analysis.effects, Family::step, factor, report.verdict.confidence);
    json["measures"] = parts_json(analysis.effects, Family::measure, factor, report.verdict.confidence);
    json["standard_error_percent"] = factor.percent.standard_error;
    json["degrees_of_freedom"] = factor.percent.degrees_of_freedom;
    return json;
}

bool more_harmful(const FactorVerdict& a, const FactorVerdict& b)
{
    const auto harm = [](const FactorVerdict& factor) {
        return std::pair{factor.verdict == base::verdict_word::unsafe ? 2
                         : factor.verdict != base::verdict_word::safe ? 1
                                                                      : 0,
                         factor.interval.high};
    };
    return harm(a) > harm(b);
}

// An object per factor: its verdict. A factor with levels has the verdict of its most harmful level, and a member
// `levels` with all of them.
Json factors_json(const Content& content)
{
    Json factors = Json::object();
    std::map<std::string, const FactorVerdict*> worst;
    const std::vector<FactorVerdict>& judged = content.report.verdict.factors;
    for (std::size_t f = 0; f < judged.size(); ++f) {
        const FactorVerdict& factor = judged[f];
        const Json json = factor_json(content.report, factor, content.found.next.commands[f]);
        if (factor.level.empty()) {
            factors[factor.factor] = json;
            continue;
        }
        Json levels = factors.contains(factor.factor) ? factors[factor.factor]["levels"] : Json::object();
        levels[factor.level] = json;
        const FactorVerdict*& known = worst[factor.factor];
        if (known == nullptr || more_harmful(factor, *known)) {
            known = &factor;
            factors[factor.factor] = json;
        }
        factors[factor.factor]["levels"] = levels;
        const auto of_sections = content.sections.noise_json.find(factor.factor);
        if (of_sections != content.sections.noise_json.end()) factors[factor.factor].update(of_sections->second);
    }
    return factors;
}

Json identity_json(const Identity& identity)
{
    Json json;
    json["hosts"] = identity.hosts;
    json["model"] = identity.model;
    json["data"] = identity.data;
    json["strategy"] = identity.strategy;
    json["ranks"] = identity.ranks;
    json["cpu_model"] = identity.cpu_model;
    json["started"] = identity.started;
    json["schedule"] = identity.schedule;
    json["seed"] = identity.seed;
    json["step_is"] = identity.step_is;
    return json;
}

Json outliers_json(const Analysis& analysis)
{
    Json json = Json::array();
    for (const AccidentRate& rate : analysis.accident_rates)
        json.push_back({{"factor", rate.factor},
                        {"level", rate.level},
                        {"percent_of_steps", rate.percent_of_steps},
                        {"percent_of_time", rate.percent_of_time},
                        {"p", rate.p},
                        {"excess_percent", rate.excess_percent},
                        {"counted", rate.charged}});
    return json;
}

Json again_json(const std::optional<Again>& run)
{
    if (!run) return nullptr;
    return {{"seconds", run->seconds},
            {"half_width_percent", run->half_width_percent ? Json(*run->half_width_percent) : Json(nullptr)},
            {"command", run->command}};
}

// How a run was ended that was checked repeatedly; null for a run of fixed length.
Json stopping_json(const Verdict& verdict, double price_of_looking)
{
    if (verdict.looks == Looks::none) return nullptr;
    return {{"until", base::until_decided},
            {"reached_its_end", verdict.looks == Looks::at_the_end},
            {"first_look_block", blocks_before_first_look},
            {"confidence_each_percent", 100.0 * verdict.confidence_each},
            {"width_of_fixed", price_of_looking}};
}

Json nodes_json(const std::vector<NodePlaces>& nodes)
{
    Json json = Json::array();
    for (const NodePlaces& node : nodes)
        json.push_back({{"host", node.host},
                        {"cpus_online", node.online},
                        {"training_cpus", base::format_cpus(node.training)},
                        {"noise_cpus", base::format_cpus(node.noise)}});
    return json;
}

}  // namespace

Json summary_json(const Verdict& verdict)
{
    Json json;
    json["trustworthy"] = verdict.trustworthy;
    json["covered"] = verdict.covered;
    json["verdicts"] = Json::object();
    std::map<std::string, const FactorVerdict*> worst;
    for (const FactorVerdict& factor : verdict.factors) {
        const FactorVerdict*& known = worst[factor.factor];
        if (known != nullptr && !more_harmful(factor, *known)) continue;
        known = &factor;
        json["verdicts"][factor.factor] = factor.verdict;
    }
    return json;
}

Json verdict_json(const Content& content)
{
    const Report& report = content.report;
    const Findings& found = content.found;
    const Verdict& verdict = report.verdict;
    const Analysis& analysis = report.analysis;
    Json json;
    json["format"] = base::format_version;
    json["trustworthy"] = verdict.trustworthy;
    if (verdict.observed) json["observed"] = true;
    json["reasons"] = verdict.reasons;
    json["budget_percent"] = verdict.budget_percent;
    json["quiet_step_ms"] = verdict.quiet_step_ms;
    json["controls"]["placebo"] = control_json(verdict.placebo, false);
    json["controls"]["delay"] = control_json(verdict.delay, true);
    json["controls"]["sham"] = control_json(verdict.sham, false);
    json["controls"]["pause"] = control_json(verdict.pause, true);
    if (verdict.absorbed) {
        Json& delay = json["controls"]["delay"];
        delay["absorbed_percent"] = verdict.absorbed->percent;
        delay["absorbed_low_percent"] = verdict.absorbed->low_percent;
        delay["absorbed_high_percent"] = verdict.absorbed->high_percent;
        delay["gpu_covered_percent"] = verdict.delay->covered_percent;
    }
    if (verdict.pause) json["controls"]["pause"]["judged"] = verdict.pause->judged;
    json["factors"] = factors_json(content);
    json["confidence_percent"] = 100.0 * verdict.confidence;
    json["covered"] = verdict.covered;
    json["covered_percent"] = 100.0 * analysis.covered_share;
    json["design"] = text(report.run.plan.design);
    json["order_randomised"] = report.run.plan.randomised();
    json["blocks"] = analysis.blocks;
    json["blocks_dropped"] = analysis.dropped_blocks;
    json["outliers_set_aside"] = analysis.long_steps.rare;
    Json steps = Json::object();
    for (const auto& [reason, count] : analysis.counts) steps[reason == LeftOut::no ? "used" : text(reason)] = count;
    if (report.run.steps.incomplete > 0) steps["not of all ranks"] = report.run.steps.incomplete;
    json["steps"] = steps;
    json["notes"] = report.notes;
    json["limits"] = report.limits;
    json["identity"] = identity_json(found.run);
    json["run_seconds"] = 60.0 * verdict.run_minutes;
    json["blocks_seconds"] = report.analysis.blocks_s;
    json["outliers"] = outliers_json(analysis);
    json["outliers_found"] = analysis.long_steps.count();
    json["outliers_looked_at"] = found.steps_looked_at;
    const Slot& slot = report.run.slots.front().front();
    json["slot_seconds"] = static_cast<double>(slot.end_ns - slot.begin_ns) / 1e9;
    json["headline"] = found.text.headline;
    json["again"] = again_json(found.next.again);
    json["nodes"] = nodes_json(found.nodes);
    json["stopping"] = stopping_json(verdict, found.text.price_of_looking);
    json["scope"] = found.text.scope;
    json.update(content.sections.json);
    return json;
}

}  // namespace analysis
