// SPDX-License-Identifier: Apache-2.0
#include "analysis/conclude/pooling.hpp"

#include "analysis/conclude/advice.hpp"
#include "base/contract/verdict_words.hpp"
#include "base/error.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

namespace analysis {

namespace {

using Estimate = std::function<const Mean*(const AnalysedPart&)>;  // nullptr: the part has none

struct OverRuns {
    TakenTogether all;
    std::vector<Mean> parts;  // the parts of all runs, in order
};

// Pools an estimate over runs. None if some part has no such estimate.
std::optional<OverRuns> over_runs(const std::vector<AnalysedRun>& runs, const Estimate& estimate)
{
    OverRuns found;
    std::vector<std::vector<Mean>> estimates;
    std::vector<std::vector<double>> times;
    for (const AnalysedRun& run : runs) {
        std::vector<Mean>& of_run = estimates.emplace_back();
        std::vector<double>& weights = times.emplace_back();
        for (const AnalysedPart& part : run) {
            const Mean* own = estimate(part);
            if (own == nullptr) return std::nullopt;
            of_run.push_back(*own);
            weights.push_back(part.analysis->blocks_s);
        }
        found.parts.insert(found.parts.end(), of_run.begin(), of_run.end());
    }
    found.all = take_together(estimates, times);
    return found;
}

const Effect* same_in(const AnalysedPart& part, const Effect& effect)
{
    return find(part.analysis->effects, effect.factor, effect.level, effect.kind, effect.phase, effect.rank,
                effect.family);
}

std::vector<PooledEffect> pooled_effects(const std::vector<AnalysedRun>& runs)
{
    std::vector<PooledEffect> all;
    for (const Effect& first : runs.front().front().analysis->effects) {
        if (first.family != Family::step && first.family != Family::measure) continue;
        std::int64_t steps = 0;
        bool lacks = false;
        const auto found = over_runs(runs, [&](const AnalysedPart& part) -> const Mean* {
            const Effect* own = same_in(part, first);
            steps += own == nullptr ? 0 : own->steps;
            lacks = lacks || (own != nullptr && own->lacks_a_stratum);
            return own == nullptr ? nullptr : &own->percent;
        });
        if (!found) continue;
        const auto over_all = [&](Mean Effect::*estimate) {
            return over_runs(runs, [&](const AnalysedPart& part) { return &(same_in(part, first)->*estimate); })
                ->all.mean;
        };
        PooledEffect& pooled = all.emplace_back(PooledEffect{first, found->all.runs, found->parts, found->all.between});
        pooled.effect.percent = found->all.mean;
        pooled.effect.at_worst = over_all(&Effect::at_worst);
        pooled.effect.whole = over_all(&Effect::whole);
        pooled.effect.at_least = over_all(&Effect::at_least);
        pooled.effect.lacks_a_stratum = lacks;
        pooled.effect.steps = steps;
        pooled.effect.p = found->all.mean.p_value();
        pooled.p_alike = p_alike(runs.size() > 1 ? found->all.runs : found->parts);
    }
    return all;
}

// Pools effects on parts of the step. Runs have the same weights as in the effect on the step, so that parts add up to
// it.
EffectTable pooled_parts(const std::vector<AnalysedRun>& runs, const std::vector<PooledEffect>& steps)
{
    EffectTable all;
    for (const PooledEffect& step : steps) {
        if (step.effect.family != Family::step || step.effect.phase != "step" || step.effect.rank != all_ranks)
            continue;
        for (const Effect& first : runs.front().front().analysis->effects) {
            if (first.family != Family::part && first.family != Family::own_work && first.family != Family::evidence)
                continue;
            if (first.factor != step.effect.factor || first.level != step.effect.level ||
                first.kind != step.effect.kind)
                continue;
            const auto found = over_runs(runs, [&](const AnalysedPart& part) -> const Mean* {
                const Effect* own = same_in(part, first);
                return own == nullptr ? nullptr : &own->percent;
            });
            if (!found) continue;
            all.push_back(first);
            all.back().percent = step.between ? mean_of_runs(found->all.runs, step.between->weights) : found->all.mean;
            all.back().p = all.back().percent.p_value();
        }
    }
    return all;
}

void adjust_pooled(std::vector<PooledEffect>& pooled)
{
    EffectTable effects;
    for (const PooledEffect& one : pooled) effects.push_back(one.effect);
    adjust(effects);
    for (std::size_t i = 0; i < effects.size(); ++i) pooled[i].effect.p_holm = effects[i].p_holm;
}

void distrust_all(Verdict& verdict, const std::string& reason)
{
    verdict.trustworthy = false;
    verdict.reasons.push_back(reason);
}

// Takes reasons for distrust. A reason against one part counts for all, because other parts cannot remove it.
void take_reasons(Verdict& verdict, const std::vector<AnalysedRun>& runs)
{
    for (const AnalysedRun& run : runs)
        for (const AnalysedPart& part : run) {
            for (const std::string& reason : part.verdict->reasons) distrust_all(verdict, part.name + ": " + reason);
            for (const std::string& reason : part.verdict->recorded)
                verdict.insensitive.push_back(part.name + ": " + reason);
            verdict.lacked.insert(part.verdict->lacked.begin(), part.verdict->lacked.end());
            verdict.covered = verdict.covered && part.verdict->covered;
            verdict.fixed_order = verdict.fixed_order || part.verdict->fixed_order;
            verdict.run_minutes += part.verdict->run_minutes;
        }
}

using ControlOf = std::optional<Control> Verdict::*;

// Pools a control over all parts. Its true value is the pooled estimate less the pooled error (estimate less truth).
std::optional<Control> pooled_control(const std::vector<AnalysedRun>& runs, ControlOf which, double confidence)
{
    const auto has = [&](const AnalysedPart& part) { return (part.verdict->*which).has_value(); };
    for (const AnalysedRun& run : runs)
        if (!std::all_of(run.begin(), run.end(), has)) return std::nullopt;
    const OverRuns measured =
        *over_runs(runs, [&](const AnalysedPart& part) { return &(part.verdict->*which)->percent; });
    std::vector<Mean> kept;
    kept.reserve(measured.parts.size());
    const OverRuns missed = *over_runs(runs, [&](const AnalysedPart& part) {
        const Control& own = *(part.verdict->*which);
        kept.push_back(own.percent);
        kept.back().value -= own.true_percent;
        return &kept.back();
    });
    Control control = *(runs.front().front().verdict->*which);
    control.percent = measured.all.mean;
    control.interval = measured.all.mean.interval(confidence);
    control.true_percent = measured.all.mean.value - missed.all.mean.value;
    for (const AnalysedRun& run : runs)
        for (const AnalysedPart& part : run) {
            control.connected = control.connected && (part.verdict->*which)->connected;
            control.judged = control.judged && (part.verdict->*which)->judged;
            control.holds = control.holds && !(control.judged && contradicts(*(part.verdict->*which)));
        }
    return control;
}

// Judges a control over all parts: single runs may be too short to find it.
void judge_control(Verdict& verdict, const std::string& name, std::optional<Control>& control)
{
    if (!control || !control->judged || !control->connected) return;
    look_for(*control);
    if (!control->found)
        verdict.insensitive.push_back(base::join("over all runs or parts, the ", name, " was not found"));
}

void pool_controls(Verdict& verdict, const std::vector<AnalysedRun>& runs)
{
    verdict.placebo = pooled_control(runs, &Verdict::placebo, verdict.confidence);
    verdict.delay = pooled_control(runs, &Verdict::delay, verdict.confidence);
    verdict.sham = pooled_control(runs, &Verdict::sham, verdict.confidence);
    verdict.pause = pooled_control(runs, &Verdict::pause, verdict.confidence);
    judge_control(verdict, "control delay", verdict.delay);
    judge_control(verdict, "control pause", verdict.pause);
    if (!verdict.delay && !(verdict.pause && verdict.pause->judged))
        verdict.insensitive.emplace_back("some runs have no positive control");
}

const FactorVerdict* own_verdict(const AnalysedPart& part, const Effect& effect)
{
    for (const FactorVerdict& factor : part.verdict->factors)
        if (factor.factor == effect.factor && factor.level == effect.level && factor.kind == effect.kind)
            return &factor;
    return nullptr;
}

bool differs_from_zero(const PooledEffect& pooled, double confidence)
{
    return !pooled.effect.percent.interval(confidence).contains(0.0) && pooled.effect.p_holm <= 0.05;
}

// The cause on which all parts that name one agree: what kept threads from running, if some part names that, or else
// the phase.
Cause common_cause(const std::vector<AnalysedRun>& runs, const PooledEffect& pooled, double confidence)
{
    if (!differs_from_zero(pooled, confidence))
        return {"", Mechanism::unknown, "The overall slowdown does not differ from zero."};
    const bool by_evidence = std::any_of(runs.begin(), runs.end(), [&](const AnalysedRun& run) {
        return std::any_of(run.begin(), run.end(), [&](const AnalysedPart& part) {
            const FactorVerdict* own = own_verdict(part, pooled.effect);
            return own != nullptr && !own->cause.evidence.empty();
        });
    });
    const auto subject = by_evidence ? &Cause::evidence : &Cause::phase;
    std::vector<std::string> named;
    Cause cause;
    bool agree = true;
    for (const AnalysedRun& run : runs)
        for (const AnalysedPart& part : run) {
            const FactorVerdict* own = own_verdict(part, pooled.effect);
            if (own == nullptr || (own->cause.*subject).empty()) continue;
            if (named.empty()) cause = own->cause;
            agree = agree && own->cause.*subject == cause.*subject;
            named.push_back(base::join(own->cause.*subject, " (", part.name, ")"));
        }
    if (named.empty()) return {"", Mechanism::unknown, "A slowdown overall, but no single run shows its cause."};
    if (!agree)
        return {"", Mechanism::unknown, "The runs disagree on the cause: " + base::join_words(named, ", ") + "."};
    cause.sentence +=
        base::join(" (", named.front(), named.size() > 1 ? base::join(" and ", named.size() - 1, " more") : "", ")");
    return cause;
}

FactorVerdict judge_pooled(const std::vector<AnalysedRun>& runs, const PooledRuns& all, const PooledEffect& pooled,
                           int blocks, double confidence)
{
    const Verdict& verdict = all.verdict;
    FactorVerdict judged = numbers_of(pooled.effect, confidence);
    judge(judged, pooled.effect, verdict);
    if (verdict.looks != Looks::none && blocks < blocks_before_first_look)
        judged.verdict = base::verdict_word::undecided;
    if (judged.verdict == base::verdict_word::undecided || judged.verdict == base::verdict_word::insensitive)
        judged.forecast = forecast(pooled.effect.percent, confidence, verdict.budget_percent, verdict.run_minutes,
                                   pooled.between ? least_runs_to_forecast : least_blocks_to_forecast);
    judged.cause = common_cause(runs, pooled, verdict.confidence);
    if (!pooled.effect.percent.interval(verdict.confidence).contains(0.0))
        judged.cause.made_of = decomposition_of(all.parts, pooled.effect, verdict.confidence);
    judged.setting = verdict.trustworthy ? advice(pooled.effect.stressor, judged.cause, judged.verdict)
                                         : Advice{"None: this report is not trustworthy."};
    return judged;
}

const PooledEffect& pooled_of(const std::vector<PooledEffect>& all, const Effect& effect)
{
    return *std::find_if(all.begin(), all.end(), [&](const PooledEffect& pooled) {
        const Effect& own = pooled.effect;
        return own.family == effect.family && own.factor == effect.factor && own.level == effect.level &&
               own.kind == effect.kind && own.phase == effect.phase && own.rank == effect.rank;
    });
}

}  // namespace

PooledRuns pool(const std::vector<AnalysedRun>& runs, const VerdictRules& rules)
{
    PooledRuns pooled;
    pooled.effects = pooled_effects(runs);
    adjust_pooled(pooled.effects);
    pooled.parts = pooled_parts(runs, pooled.effects);

    Verdict& verdict = pooled.verdict;
    verdict.budget_percent = rules.budget_percent;
    verdict.confidence = rules.confidence;
    verdict.looks = runs.size() == 1 ? rules.looks : Looks::none;
    double weighed = 0.0;
    int blocks = 0;
    for (const AnalysedRun& run : runs)
        for (const AnalysedPart& part : run) {
            weighed += part.verdict->quiet_step_ms * part.analysis->blocks;
            blocks += part.analysis->blocks;
        }
    verdict.quiet_step_ms = weighed / blocks;
    take_reasons(verdict, runs);
    pool_controls(verdict, runs);
    const std::vector<const Effect*> judged = judged_effects(*runs.front().front().analysis);
    std::vector<Mean> means;
    for (const Effect* effect : judged) means.push_back(pooled_of(pooled.effects, *effect).effect.percent);
    const std::vector<double> each = confidences(means, {rules.budget_percent, rules.confidence, verdict.looks});
    verdict.confidence_each = each.empty() ? rules.confidence : *std::max_element(each.begin(), each.end());
    for (std::size_t i = 0; i < judged.size(); ++i)
        verdict.factors.push_back(judge_pooled(runs, pooled, pooled_of(pooled.effects, *judged[i]), blocks, each[i]));
    return pooled;
}

}  // namespace analysis
