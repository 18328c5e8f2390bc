#include "analysis/verdict.hpp"

#include "analysis/advice.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace analysis {

namespace {

constexpr double distrust_confidence = 0.999;
constexpr double least_covered =
    0.9;  // of the training's time after warm-up; noise may measure the step before it begins

std::string percent(double value)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.2f %%", value);
    return text;
}

const Effect* control_effect(const Analysis& analysis, const std::string& stressor)
{
    for (const Effect& effect : analysis.effects)
        if (effect.stressor == stressor && effect.phase == "step" && effect.rank == all_ranks &&
            effect.kind == Kind::alone)
            return &effect;
    return nullptr;
}

void distrust(Verdict& verdict, const std::string& reason)
{
    verdict.trustworthy = false;
    verdict.reasons.push_back(reason);
}

void check_control(Verdict& verdict, const std::string& name, Control& control, const std::string& truth)
{
    const Interval wide = control.percent.interval(distrust_confidence);
    const double off = control.percent.value - control.true_percent;
    control.holds = wide.contains(control.true_percent) && std::abs(off) <= verdict.budget_percent;
    if (control.holds) return;
    if (wide.contains(control.true_percent))
        distrust(verdict, base::join("the ", name, " is off by ", percent(off),
                                     ", more than the budget: the run is too short or too noisy for this budget"));
    else
        distrust(verdict,
                 base::join("the ", name, " came out as ", percent(control.percent.value), ", ", truth,
                            " lies outside its 99.9 % interval (", percent(wide.low), " to ", percent(wide.high), ")"));
}

void check_placebo(Verdict& verdict, const Analysis& analysis)
{
    const Effect* effect = control_effect(analysis, "placebo");
    if (effect == nullptr)
        return distrust(verdict, "no placebo in the schedule: nothing shows that doing nothing measures as nothing");
    verdict.placebo = Control{effect->percent, effect->percent.interval(verdict.confidence), 0.0};
    check_control(verdict, "placebo", *verdict.placebo, "zero");
}

void check_delay(Verdict& verdict, const DesignedRun& run, const Analysis& analysis)
{
    const Effect* effect = control_effect(analysis, "control.delay");
    if (effect == nullptr)
        return distrust(verdict,
                        "no control delay in the schedule: nothing shows that a known slowdown would be found");
    verdict.delay = Control{effect->percent, effect->percent.interval(verdict.confidence), 0.0};
    const std::optional<double> truth = true_delay_percent(run, analysis);
    if (!truth) {
        verdict.delay->holds = false;
        return distrust(verdict,
                        "the control delay was not connected: the training recorded no delay while it was asked to");
    }
    verdict.delay->true_percent = *truth;
    check_control(verdict, "control delay", *verdict.delay, "the recorded delay of " + percent(*truth));
}

FactorVerdict judge_factor(const DesignedRun& run, const Analysis& analysis, const Effect& effect,
                           const Verdict& verdict)
{
    FactorVerdict judged;
    judged.factor = effect.factor;
    judged.level = effect.level;
    judged.stressor = effect.stressor;
    judged.kind = effect.kind;
    judged.percent = effect.percent.value;
    judged.interval = effect.percent.interval(verdict.confidence);
    judged.p_holm = effect.p_holm;
    judged.verdict = judge(judged.interval, verdict.budget_percent);
    if (judged.verdict == "undecided")
        judged.forecast = forecast(effect.percent, verdict.confidence, verdict.budget_percent, verdict.run_minutes);
    judged.cause = cause_of(run, analysis, effect, verdict.confidence);
    judged.setting = verdict.trustworthy ? advice(effect.stressor, judged.cause.mechanism, judged.verdict)
                                         : "None: this run cannot be trusted, see above.";
    return judged;
}

}  // namespace

std::string judge(const Interval& interval, double budget_percent)
{
    if (interval.high < budget_percent) return "safe";
    if (interval.low > budget_percent) return "unsafe";
    return "undecided";
}

std::optional<double> true_delay_percent(const DesignedRun& run, const Analysis& analysis)
{
    const auto phase = std::find(run.steps.phases.begin(), run.steps.phases.end(), "control_delay");
    const auto treatment = std::find_if(run.plan.treatments.begin(), run.plan.treatments.end(), [](const Treatment& t) {
        return t.on.size() == 1 && t.on.front().stressor == "control.delay";
    });
    if (phase == run.steps.phases.end() || treatment == run.plan.treatments.end()) return std::nullopt;
    const auto column = static_cast<Eigen::Index>(phase - run.steps.phases.begin());
    const auto delayed = static_cast<std::size_t>(treatment - run.plan.treatments.begin());
    Mean on;
    Mean off;
    double on_steps = 0.0;
    double off_steps = 0.0;
    for (std::size_t i = 0; i < run.steps.numbers.size(); ++i) {
        if (analysis.exposures.left_out[i] != LeftOut::no) continue;
        const double ms = run.steps.ranks.front().phase_ms(static_cast<Eigen::Index>(i), column);
        if (wholly_under(analysis.exposures.ranks.front()[i], run.plan, delayed)) {
            on.value += ms;
            on_steps += 1.0;
        } else if (wholly_under(analysis.exposures.ranks.front()[i], run.plan, 0)) {
            off.value += ms;
            off_steps += 1.0;
        }
    }
    if (on_steps == 0.0 || off_steps == 0.0) return std::nullopt;
    const double truth = 100.0 * (on.value / on_steps - off.value / off_steps) / analysis.quiet_step_ms;
    if (truth < 0.01) return std::nullopt;  // two empty barriers differ by less: nobody was asked to wait
    return truth;
}

Verdict verdict(const DesignedRun& run, const Analysis& analysis, const std::vector<std::string>& promises_broken,
                const VerdictRules& rules)
{
    Verdict verdict;
    verdict.budget_percent = rules.budget_percent;
    verdict.confidence = rules.confidence;
    verdict.quiet_step_ms = analysis.quiet_step_ms;
    const RankSteps& rank = run.steps.ranks.front();
    verdict.run_minutes = static_cast<double>(rank.end_ns.back() - rank.begin_ns.front()) / 60e9;
    for (const std::string& broken : promises_broken) {
        verdict.covered = false;
        distrust(verdict, broken);
    }
    if (analysis.covered_share < least_covered) {
        verdict.covered = false;
        distrust(verdict, base::join("noise covered only ", std::lround(100.0 * analysis.covered_share),
                                     " % of the training's time after its warm-up"));
    }
    check_placebo(verdict, analysis);
    check_delay(verdict, run, analysis);
    for (const Effect& effect : analysis.effects) {
        if (effect.phase != "step" || effect.rank != all_ranks || effect.kind == Kind::interaction) continue;
        if (effect.stressor == "placebo" || effect.stressor == "control.delay") continue;
        if (effect.kind == judged_kind(analysis.effects, effect))
            verdict.factors.push_back(judge_factor(run, analysis, effect, verdict));
    }
    return verdict;
}

}  // namespace analysis
