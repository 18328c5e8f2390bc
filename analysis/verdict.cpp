#include "analysis/verdict.hpp"

#include "analysis/advice.hpp"
#include "analysis/controls.hpp"
#include "analysis/roles.hpp"
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

const Effect* control_effect(const Analysis& analysis, Role role)
{
    for (const Effect& effect : analysis.effects)
        if (role_of(effect.stressor) == role && effect.phase == "step" && effect.rank == all_ranks &&
            effect.kind == Kind::alone)
            return &effect;
    return nullptr;
}

std::optional<Control> measured(const Analysis& analysis, Role role, double confidence)
{
    const Effect* effect = control_effect(analysis, role);
    if (effect == nullptr) return std::nullopt;
    return Control{.percent = effect->percent, .interval = effect->percent.interval(confidence)};
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
    verdict.placebo = measured(analysis, Role::placebo, verdict.confidence);
    if (!verdict.placebo)
        return distrust(verdict, "no placebo in the schedule: nothing shows that doing nothing measures as nothing");
    check_control(verdict, "placebo", *verdict.placebo, "zero");
}

// A control whose truth was recorded.
void check_against_truth(Verdict& verdict, const std::string& name, Control& control,
                         const std::optional<double>& truth, const std::string& what_it_is, const std::string& if_not)
{
    control.connected = truth.has_value();
    if (!truth) {
        control.holds = false;
        return distrust(verdict, base::join("the ", name, " was not connected: ", if_not));
    }
    control.true_percent = *truth;
    if (control.judged) check_control(verdict, name, control, base::join(what_it_is, " of ", percent(*truth)));
}

void check_delay(Verdict& verdict, const DesignedRun& run, const Analysis& analysis)
{
    verdict.delay = measured(analysis, Role::delay, verdict.confidence);
    verdict.sham = measured(analysis, Role::sham, verdict.confidence);
    if (!verdict.delay) return;
    if (!verdict.sham)
        distrust(verdict, "control.delay has no control.sham beside it: what its barriers cost counts as delay");
    check_against_truth(verdict, "control delay", *verdict.delay, true_delay_percent(run, analysis),
                        "the recorded delay", "the training recorded no delay while it was asked to");
}

void check_pause(Verdict& verdict, const DesignedRun& run, const Analysis& analysis)
{
    verdict.pause = measured(analysis, Role::pause, verdict.confidence);
    if (!verdict.pause) return;
    verdict.pause->judged = !run.computes_while_stopped;
    check_against_truth(verdict, "control pause", *verdict.pause, true_pause_percent(run, analysis),
                        "the recorded stopped time", "no process of the training was stopped");
}

void check_positive_control(Verdict& verdict)
{
    if (verdict.delay || (verdict.pause && verdict.pause->judged)) return;
    if (verdict.pause)
        return distrust(verdict,
                        "the control pause shows nothing of a training that computes while it is stopped (as on a "
                        "GPU), and there is no control.delay in the schedule");
    distrust(verdict,
             "neither control.delay nor control.pause in the schedule: nothing shows that a known slowdown would be "
             "found");
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
    check_pause(verdict, run, analysis);
    check_positive_control(verdict);
    for (const Effect& effect : analysis.effects) {
        if (effect.phase != "step" || effect.rank != all_ranks || effect.kind == Kind::interaction) continue;
        if (role_of(effect.stressor) != Role::treatment) continue;
        if (effect.kind == judged_kind(analysis.effects, effect))
            verdict.factors.push_back(judge_factor(run, analysis, effect, verdict));
    }
    return verdict;
}

}  // namespace analysis
