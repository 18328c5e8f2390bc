#include "analysis/report/json.hpp"

#include "base/run_record.hpp"

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

Json factor_json(const FactorVerdict& factor, const Analysis& analysis)
{
    Json json;
    json["verdict"] = factor.verdict;
    json["effect_percent"] = factor.percent;
    json["low_percent"] = factor.interval.low;
    json["high_percent"] = factor.interval.high;
    json["minutes_missing"] = factor.minutes_missing;
    json["cause"] = factor.cause;
    json["phase"] = factor.phase;
    json["stressor"] = factor.stressor;
    json["level"] = factor.level;
    json["kind"] = text(factor.kind);
    json["p_holm"] = factor.p_holm;
    json["setting"] = factor.setting;
    if (const Effect* median = find(analysis.extra_effects, factor.factor, factor.level, factor.kind, "median step"))
        json["median_effect_percent"] = median->percent.value;
    for (const OutlierRate& rate : analysis.outlier_rates) {
        if (rate.factor != factor.factor || rate.level != factor.level) continue;
        json["outliers_percent_of_steps"] = rate.percent_of_steps;
        json["outliers_p"] = rate.p;
    }
    return json;
}

bool more_harmful(const FactorVerdict& a, const FactorVerdict& b)
{
    const auto harm = [](const FactorVerdict& factor) {
        return std::pair{factor.verdict == "unsafe" ? 2 : factor.verdict == "undecided" ? 1 : 0, factor.interval.high};
    };
    return harm(a) > harm(b);
}

// A factor with levels is what its most harmful level is; all levels stand below it.
Json factors_json(const Report& report)
{
    Json factors = Json::object();
    std::map<std::string, const FactorVerdict*> worst;
    for (const FactorVerdict& factor : report.verdict.factors) {
        const Json json = factor_json(factor, report.analysis);
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
    }
    return factors;
}

}  // namespace

Json verdict_json(const Report& report)
{
    const Verdict& verdict = report.verdict;
    const Analysis& analysis = report.analysis;
    Json json;
    json["format"] = base::format_version;
    json["trustworthy"] = verdict.trustworthy;
    json["reasons"] = verdict.reasons;
    json["budget_percent"] = verdict.budget_percent;
    json["quiet_step_ms"] = verdict.quiet_step_ms;
    json["controls"]["placebo"] = control_json(verdict.placebo, false);
    json["controls"]["delay"] = control_json(verdict.delay, true);
    json["controls"]["sham"] = control_json(verdict.sham, false);
    json["controls"]["pause"] = control_json(verdict.pause, true);
    if (verdict.pause) json["controls"]["pause"]["judged"] = verdict.pause->judged;
    json["factors"] = factors_json(report);
    json["confidence_percent"] = 100.0 * verdict.confidence;
    json["covered"] = verdict.covered;
    json["covered_percent"] = 100.0 * analysis.covered_share;
    json["design"] = text(report.run.plan.design);
    json["order_randomised"] = report.run.plan.randomised();
    json["blocks"] = analysis.blocks;
    json["blocks_dropped"] = analysis.dropped_blocks;
    json["outliers_set_aside"] = analysis.outliers.set_aside;
    Json steps = Json::object();
    for (const auto& [reason, count] : analysis.counts) steps[reason == LeftOut::no ? "used" : text(reason)] = count;
    json["steps"] = steps;
    json["notes"] = report.notes;
    return json;
}

}  // namespace analysis
