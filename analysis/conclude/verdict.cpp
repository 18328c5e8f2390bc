// SPDX-License-Identifier: Apache-2.0
#include "analysis/conclude/verdict.hpp"

#include "analysis/conclude/advice.hpp"
#include "analysis/conclude/controls.hpp"
#include "analysis/conclude/harm.hpp"
#include "analysis/conclude/unseen.hpp"
#include "base/contract/roles.hpp"
#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace analysis {

namespace {

constexpr double least_covered =
    0.9;  // share of the training's time after warm-up; noise may begin after it has measured the step

// Formats a share as a percentage; never rounds up to the required one.
std::string percent_of_time(double share)
{
    return base::percent(std::floor(1000.0 * share) / 10.0, 1);
}

// A control of the schedule with its name.
struct Measured {
    Assigned on;
    std::string name;
    Control control;
};

std::vector<Measured> measured(const Analysis& analysis, base::Role role, const std::string& name, double confidence)
{
    std::vector<Measured> all;
    for (const Effect& effect : of(analysis.effects, Family::step))
        if (effect.role == role && effect.phase == "step" && effect.rank == all_ranks && effect.kind == Kind::alone)
            all.push_back({{effect.factor, effect.level, effect.stressor, effect.role},
                           name,
                           {.percent = effect.percent, .interval = effect.percent.interval(confidence)}});
    if (all.size() > 1)
        for (Measured& one : all) one.name += " '" + Treatment{{one.on}}.name() + "'";
    return all;
}

// The control to show: the first that fails, else the first.
std::optional<Control> shown(const std::vector<Measured>& all)
{
    if (all.empty()) return std::nullopt;
    const auto failed = std::find_if(all.begin(), all.end(), [](const Measured& m) { return !m.control.holds; });
    return failed == all.end() ? all.front().control : failed->control;
}

void distrust(Verdict& verdict, const std::string& reason)
{
    verdict.trustworthy = false;
    verdict.reasons.push_back(reason);
}

void check_control(Verdict& verdict, const std::string& name, Control& control, const std::string& truth)
{
    control.holds = !contradicts(control);
    if (control.holds) return;
    const Interval wide = control.percent.interval(distrust_confidence);
    distrust(verdict, base::join("the ", name, " came out as ", base::percent(control.percent.value), ", ", truth,
                                 " lies outside its 99.9 % interval (", base::percent(wide.low), " to ",
                                 base::percent(wide.high), ")"));
}

void check_placebo(Verdict& verdict, const Analysis& analysis)
{
    std::vector<Measured> placebos = measured(analysis, base::Role::placebo, "placebo", verdict.confidence);
    if (placebos.empty()) return distrust(verdict, "no placebo in the schedule: a zero effect is not verified");
    for (Measured& placebo : placebos) check_control(verdict, placebo.name, placebo.control, "zero");
    verdict.placebo = shown(placebos);
}

// Finds steps that some rank lacks; they are left out. Many of them mean that a rank ended early or lost its record.
void check_complete(Verdict& verdict, const StepTable& steps)
{
    if (steps.cut_off) distrust(verdict, "the table of steps is cut off: its last line does not end in a newline");
    const std::size_t all = steps.numbers.size() + steps.incomplete;
    if (static_cast<double>(steps.numbers.size()) >= least_covered * static_cast<double>(all)) return;
    distrust(verdict, base::join(steps.incomplete, " of ", all, " steps are excluded: some ranks lack them"));
}

// Checks clocks: ranks do the same step at the same time, by the clocks of their own nodes.
void check_clocks(Verdict& verdict, const DesignedRun& run, const Exposures& exposures)
{
    for (std::size_t r = 1; r < run.steps.ranks.size(); ++r) {
        const RankSteps& rank = run.steps.ranks[r];
        std::size_t in_slots = 0;
        std::size_t elsewhere = 0;
        for (std::size_t i = 0; i < rank.begin_ns.size(); ++i) {
            if (exposures.slot[i] == no_slot) continue;
            ++in_slots;
            const Slot& slot = run.slots[r][static_cast<std::size_t>(exposures.slot[i])];
            if (rank.begin_ns[i] < slot.begin_ns || rank.begin_ns[i] >= slot.end_ns) ++elsewhere;
        }
        if (2 * elsewhere > in_slots)
            return distrust(verdict, base::join("rank ", rank.rank, " began ", elsewhere, " of ", in_slots,
                                                " steps in other slots than rank ", run.steps.ranks.front().rank,
                                                ": clocks of nodes differ, or ranks do not run together"));
    }
}

// Checks that the slots of all nodes are at the same time: where they are not, one node's noise slows ranks of the
// others in their quiet slots. Clocks are compared by the steps, which ranks begin together.
void check_nodes(Verdict& verdict, const DesignedRun& run, const Exposures& exposures)
{
    constexpr double most = 0.2;  // difference of times, as a share of a slot
    for (std::size_t r = 1; r < run.steps.ranks.size(); ++r) {
        std::vector<double> later;  // in slots
        for (std::size_t i = 0; i < run.steps.ranks[r].begin_ns.size(); ++i) {
            if (exposures.slot[i] == no_slot) continue;
            const auto place = static_cast<std::size_t>(exposures.slot[i]);
            const Slot& first = run.slots.front()[place];
            const Slot& slot = run.slots[r][place];
            const std::int64_t after_first_ns = run.steps.ranks.front().begin_ns[i] - first.begin_ns;
            const std::int64_t after_ns = run.steps.ranks[r].begin_ns[i] - slot.begin_ns;
            later.push_back(static_cast<double>(after_first_ns - after_ns) /
                            static_cast<double>(first.end_ns - first.begin_ns));
        }
        if (later.empty()) continue;
        const double apart = base::median(std::move(later));
        if (std::abs(apart) > most)
            return distrust(verdict,
                            base::join("noise on the host of rank ", run.steps.ranks[r].rank, " began ",
                                       base::fixed(std::abs(apart), 2), apart > 0.0 ? " slots later" : " slots earlier",
                                       " than on that of rank ", run.steps.ranks.front().rank));
    }
}

// Judges a control by its recorded truth.
void check_against_truth(Verdict& verdict, const std::string& name, Control& control,
                         const std::optional<double>& truth, const std::string& what_it_is, const std::string& if_not)
{
    control.connected = truth.has_value();
    if (!truth) {
        control.holds = false;
        return distrust(verdict, base::join("the ", name, " was not connected: ", if_not));
    }
    control.true_percent = *truth;
    if (!control.judged) return;
    check_control(verdict, name, control, base::join(what_it_is, " of ", base::percent(*truth)));
    look_for(control);
    if (!control.found)
        verdict.insensitive.push_back(base::join(
            "the ", name, " of ", base::percent(*truth),
            control.interval.low > 0.0 ? " came out as " : " was not found: ", base::percent(control.percent.value),
            " (", base::percent(control.interval.low), " to ", base::percent(control.interval.high), ")"));
}

void check_delay(Verdict& verdict, const DesignedRun& run, const Analysis& analysis)
{
    std::vector<Measured> delays = measured(analysis, base::Role::delay, "control delay", verdict.confidence);
    verdict.sham = shown(measured(analysis, base::Role::sham, "control sham", verdict.confidence));
    if (!delays.empty() && !verdict.sham)
        distrust(verdict, "control.delay lacks control.sham: the cost of its barriers counts as delay");
    for (Measured& delay : delays) delay.control.covered_percent = run.gpu.covered_percent;
    for (Measured& delay : delays)
        check_against_truth(verdict, delay.name, delay.control, true_delay_percent(run, analysis, delay.on),
                            "the recorded delay", "the training recorded no delay in slots of the control");
    const bool may_hide = run.computes_on_gpu && !run.gpu.known();
    if (may_hide && std::any_of(delays.begin(), delays.end(), [](const Measured& delay) {
            return delay.control.connected && !delay.control.holds &&
                   delay.control.percent.value < delay.control.true_percent;
        }))
        distrust(verdict, "a delay may be hidden by work queued on a GPU, which only ddl-train --trace-gpu records");
    verdict.delay = shown(delays);
    if (run.gpu.known() && verdict.delay) verdict.absorbed = absorbed_of(*verdict.delay);
}

void check_pause(Verdict& verdict, const DesignedRun& run, const Analysis& analysis)
{
    std::vector<Measured> pauses = measured(analysis, base::Role::pause, "control pause", verdict.confidence);
    for (Measured& pause : pauses) {
        pause.control.judged = !run.computes_while_stopped;
        check_against_truth(verdict, pause.name, pause.control, true_pause_percent(run, analysis, pause.on),
                            "the recorded stopped time", "no process of the training was stopped");
        if (pause.control.connected && !pause.control.holds && pause.control.interval.low <= 0.0)
            distrust(
                verdict,
                "no step was longer during the control pause: steps at fixed times, such as progress lines, show no "
                "slowdown");
    }
    verdict.pause = shown(pauses);
}

void check_positive_control(Verdict& verdict)
{
    if (!verdict.delay && !(verdict.pause && verdict.pause->judged))
        verdict.insensitive.emplace_back("there is no positive control: it is not verified that a slowdown is found");
    if (verdict.delay || (verdict.pause && verdict.pause->judged)) return;
    if (verdict.pause)
        return distrust(
            verdict,
            "the control pause does not apply to a training that computes while stopped (as on a GPU), and the "
            "schedule has no control.delay");
    distrust(
        verdict,
        "neither control.delay nor control.pause in the schedule: it is not verified that a known slowdown is found");
}

FactorVerdict judge_factor(const DesignedRun& run, const Analysis& analysis, const Effect& effect,
                           const Verdict& verdict, double confidence)
{
    FactorVerdict judged = numbers_of(effect, confidence);
    judge(judged, effect, verdict);
    if (verdict.looks != Looks::none && analysis.blocks < blocks_before_first_look)
        judged.verdict = base::verdict_word::undecided;
    if (judged.verdict == base::verdict_word::undecided || judged.verdict == base::verdict_word::insensitive)
        judged.forecast = forecast(effect.percent, confidence, verdict.budget_percent, verdict.run_minutes);
    judged.cause = cause_of(run, analysis, effect, verdict.confidence);
    judged.setting = verdict.trustworthy ? advice(effect.stressor, judged.cause, judged.verdict)
                                         : Advice{"None: this run is not trustworthy."};
    return judged;
}

std::vector<Mean> means_of(const std::vector<const Effect*>& effects)
{
    std::vector<Mean> means;
    for (const Effect* effect : effects) means.push_back(effect->percent);
    return means;
}

}  // namespace

std::vector<double> confidences(const std::vector<Mean>& effects, const VerdictRules& rules)
{
    std::vector<double> all(effects.size(), rules.confidence);
    if (rules.looks == Looks::none) return all;
    std::vector<std::size_t> open(effects.size());
    std::iota(open.begin(), open.end(), std::size_t{0});
    for (std::size_t before = 0; open.size() != before;) {
        before = open.size();
        const double each = 1.0 - (1.0 - rules.confidence) / static_cast<double>(before);
        for (const std::size_t i : open) all[i] = each;
        std::erase_if(open, [&](std::size_t i) {
            return judge(effects[i].interval(each), rules.budget_percent) != base::verdict_word::undecided;
        });
    }
    return all;
}

std::vector<const Effect*> judged_effects(const Analysis& analysis)
{
    std::vector<const Effect*> judged;
    for (const Effect& effect : of(analysis.effects, Family::step)) {
        if (effect.phase != "step" || effect.rank != all_ranks || effect.kind == Kind::interaction) continue;
        if (effect.role == base::Role::treatment && effect.kind == judged_kind(analysis.effects, effect))
            judged.push_back(&effect);
    }
    return judged;
}

FactorVerdict numbers_of(const Effect& effect, double confidence)
{
    FactorVerdict factor;
    factor.factor = effect.factor;
    factor.level = effect.level;
    factor.stressor = effect.stressor;
    factor.kind = effect.kind;
    factor.percent = effect.percent;
    factor.confidence = confidence;
    factor.interval = effect.percent.interval(confidence);
    factor.p_holm = effect.p_holm;
    factor.at_worst = effect.at_worst.interval(confidence);
    factor.at_least = effect.at_least.interval(confidence);
    return factor;
}

void judge(FactorVerdict& factor, const Effect& effect, const Verdict& verdict)
{
    constexpr double quantile_90 = 1.28;  // 90 % quantile of the normal distribution, one-sided
    const double budget = verdict.budget_percent;
    const auto say = [&](const char* word, std::string why) {
        factor.verdict = word;
        factor.why = std::move(why);
    };
    if (factor.interval.low > budget && factor.at_least.low <= budget)
        return say(
            base::verdict_word::undecided,
            base::join(
                "it exceeds the budget only with its carry-over added, as under constant noise; neither does alone (",
                base::percent(effect.at_least.value), ")"));
    // If a stratum has steps only with or only without the noise, their classification may be an effect of the noise.
    const auto at_least_as_it_was = [&] {
        return effect.lacks_a_stratum ? effect.whole.interval(factor.confidence).low
                                      : effect.whole.value - quantile_90 * effect.whole.standard_error;
    };
    if (factor.interval.low > budget && at_least_as_it_was() <= budget)
        return say(base::verdict_word::undecided,
                   base::join("long steps may be rarer under it; including all of them it costs ",
                              base::percent(effect.whole.value), " ± ", base::percent(effect.whole.standard_error)));
    if (factor.interval.low > budget && verdict.fixed_order)
        return say(base::verdict_word::undecided,
                   "slots follow one another in a fixed order: carry-over of other noises, and disturbances with that "
                   "period, cannot be separated from it: use rotation(..) or factorial(..)");
    if (factor.interval.low > budget) return say(base::verdict_word::unsafe, "");
    if (factor.interval.half_width() > budget)
        return say(base::verdict_word::insensitive, "half the width of its interval exceeds the budget");
    if (factor.interval.high >= budget) return say(base::verdict_word::undecided, "the budget lies in the interval");
    if (!verdict.insensitive.empty()) return say(base::verdict_word::insensitive, verdict.insensitive.front());
    if (const auto lacked = verdict.lacked.find({factor.factor, factor.level}); lacked != verdict.lacked.end())
        return say(base::verdict_word::insensitive, lacked->second);
    if (effect.lacks_a_stratum)
        return say(base::verdict_word::insensitive,
                   "this training has recurring long steps, none of which began under this noise or in quiet");
    if (factor.at_worst.high >= budget)
        return say(factor.at_worst.high - effect.at_worst.value > budget ? base::verdict_word::insensitive
                                                                         : base::verdict_word::undecided,
                   base::join("with outliers and carry-over it may cost up to ", base::percent(factor.at_worst.high)));
    if (factor.interval.high < 0.0 && factor.p_holm <= 1.0 - verdict.confidence)
        return say(
            base::verdict_word::undecided,
            "steps are faster under it than without, which is unexpected: check clock frequency and CPU placement");
    if (!verdict.trustworthy) return say(base::verdict_word::untrusted, "the run is not trustworthy");
    say(base::verdict_word::safe, "");
}

bool decided(const Verdict& verdict)
{
    return std::all_of(verdict.factors.begin(), verdict.factors.end(), [](const FactorVerdict& factor) {
        return factor.verdict == base::verdict_word::safe || factor.verdict == base::verdict_word::unsafe;
    });
}

Verdict verdict(const DesignedRun& run, const Analysis& analysis, const std::vector<std::string>& promises_broken,
                const VerdictRules& rules)
{
    Verdict verdict;
    verdict.budget_percent = rules.budget_percent;
    verdict.confidence = rules.confidence;
    verdict.insensitive = rules.insensitive;
    verdict.recorded = rules.insensitive;
    verdict.lacked = rules.lacked;
    verdict.quiet_step_ms = analysis.quiet_step_ms;
    const RankSteps& rank = run.steps.ranks.front();
    verdict.run_minutes = static_cast<double>(rank.end_ns.back() - rank.begin_ns.front()) / 60e9;
    for (const std::string& broken : promises_broken) {
        verdict.covered = false;
        distrust(verdict, broken);
    }
    if (analysis.covered_share < least_covered) {
        verdict.covered = false;
        distrust(verdict, base::join("noise covered only ", percent_of_time(analysis.covered_share),
                                     " of the training's time after its warm-up"));
    }
    verdict.fixed_order = !run.plan.randomised();
    check_complete(verdict, run.steps);
    check_clocks(verdict, run, analysis.exposures);
    check_nodes(verdict, run, analysis.exposures);
    check_placebo(verdict, analysis);
    check_delay(verdict, run, analysis);
    check_pause(verdict, run, analysis);
    check_positive_control(verdict);
    if (const auto why = steps_that_wait(run, analysis)) {
        verdict.insensitive.push_back(*why);
        verdict.recorded.push_back(*why);
    }
    const std::vector<const Effect*> judged = judged_effects(analysis);
    verdict.looks = rules.looks;
    const std::vector<double> each = confidences(means_of(judged), rules);
    verdict.confidence_each = each.empty() ? rules.confidence : *std::max_element(each.begin(), each.end());
    for (std::size_t i = 0; i < judged.size(); ++i) {
        const Effect& effect = *judged[i];
        if (effect.percent.interval(each[i]).low > verdict.budget_percent) continue;  // unsafe without further reasons
        std::optional<std::string> why = harm_beside(analysis, effect, verdict.budget_percent, verdict.confidence);
        if (!why) why = unseen_slots(run, analysis, effect);
        if (why) verdict.lacked.try_emplace({effect.factor, effect.level}, std::move(*why));
    }
    for (std::size_t i = 0; i < judged.size(); ++i)
        verdict.factors.push_back(judge_factor(run, analysis, *judged[i], verdict, each[i]));
    return verdict;
}

}  // namespace analysis
