// SPDX-License-Identifier: Apache-2.0
#include "analysis/results/findings.hpp"

#include "analysis/results/numbers.hpp"
#include "base/contract/factor_name.hpp"
#include "base/error.hpp"
#include "base/words.hpp"

namespace analysis {

namespace {

using base::join;
using base::page::Grade;

Grade grade_of(bool holds)
{
    return holds ? Grade::held : Grade::not_held;
}

Check check_of(const std::string& short_name, const std::string& name, const std::optional<Control>& control,
               const std::string& truth, const std::string& meaning)
{
    if (!control) return {Grade::not_tested, short_name, name, "not in the schedule", meaning};
    const bool tested = control->judged && control->connected;
    const bool seen = !tested || control->found;
    const Grade grade = !control->holds ? Grade::not_held : tested && seen ? Grade::held : Grade::not_tested;
    return {
        grade, short_name, name, signed_percent(control->percent.value) + ", true value " + truth,
        meaning + " Interval " + range(control->interval) +
            (seen                          ? "."
             : control->interval.low > 0.0 ? ": an effect that differs from the true value. No noise is called safe."
                                           : ": it includes zero, so this run may not see such an effect.")};
}

std::string cost_of_sham(const Verdict& verdict)
{
    if (!verdict.sham) return "";
    return join(" The barriers around it cost ", signed_percent(verdict.sham->percent.value),
                " in its own slots and its sham's only.");
}

std::string with_blank_before(const std::string& sentence)
{
    return sentence.empty() ? "" : " " + sentence;
}

Check check_of_order(const Experiment& plan)
{
    if (plan.randomised())
        return {Grade::held, "Order", "Order of the noise", "random, " + text(plan.design),
                "No periodic activity of the machine can be mistaken for an effect."};
    return {Grade::not_held, "Order", "Order of the noise", "not random",
            "A fixed sequence: periodic activity of the machine with the same period would be mistaken for an effect, "
            "and p-values come from the t test instead of re-randomisation."};
}

std::size_t count_of(const Analysis& analysis, LeftOut reason)
{
    const auto found = analysis.counts.find(reason);
    return found == analysis.counts.end() ? 0 : found->second;
}

std::size_t steps_looked_at(const Analysis& analysis)
{
    return count_of(analysis, LeftOut::no) + count_of(analysis, LeftOut::outlier);
}

Check check_of_outliers(const Analysis& analysis)
{
    const std::string found = join(analysis.long_steps.count(), " of ", counted(steps_looked_at(analysis), "step"));
    if (!analysis.long_steps.rare)
        return {Grade::not_held, "Outliers", "Outliers", found,
                "Too many under one noise to be accidental, so they stay in the estimate; intervals are wider."};
    std::vector<std::string> charged;
    for (const AccidentRate& rate : analysis.accident_rates)
        if (rate.charged) charged.push_back(base::factor_name(rate.factor, rate.level));
    if (!charged.empty())
        return {Grade::not_held, "Outliers", "Outliers", found,
                join("Their excess time counts in the effects of ", base::join_words(charged, ", "),
                     ", which has more of them than quiet. It is excluded for other noises.")};
    return {
        Grade::held, "Outliers", "Outliers", found,
        "No noise has more of them than chance explains. Their excess time is excluded; with it intervals are wider."};
}

std::vector<Check> control_checks(const Report& report, const Findings& found)
{
    const Verdict& verdict = report.verdict;
    const Analysis& analysis = report.analysis;
    std::vector<Check> all;
    all.push_back(check_of("Placebo", "Placebo: noise that does nothing", verdict.placebo, "0 %",
                           "The measured effect must be zero."));
    if (verdict.delay || !verdict.pause)
        all.push_back(check_of(
            "Known delay", "Control: a delay of known length", verdict.delay, found.text.delay_truth,
            "Requested from the training, which records it. Measured against its sham, it must equal the record." +
                cost_of_sham(verdict) + with_blank_before(found.absorption)));
    if (verdict.pause)
        all.push_back(
            check_of("Known pause", "Control: pauses of known length", verdict.pause, found.text.pause_truth,
                     verdict.pause->judged
                         ? "All processes of the training stopped. The measured effect must equal the stopped time."
                         : "Not judged: the training computes while its processes are stopped, as on a GPU."));
    all.push_back({grade_of(verdict.covered), "Coverage", "Noise covered the training",
                   fixed(100.0 * analysis.covered_share, 1) + " % after its warm-up",
                   "By the noise's own record, on the clock of each node."});
    return all;
}

std::vector<Check> design_checks(const Report& report)
{
    const Analysis& analysis = report.analysis;
    std::vector<Check> all;
    all.push_back({grade_of(analysis.blocks >= 5), "Repetitions", "Independent repetitions",
                   counted(static_cast<std::size_t>(analysis.blocks), "block"),
                   join("Each holds every noise and quiet", report.run.plan.randomised() ? ", in random order" : "",
                        "; ", counted(static_cast<std::size_t>(analysis.dropped_blocks), "incomplete block"),
                        " left out. Intervals are based on blocks, not on steps.")});
    all.push_back(check_of_order(report.run.plan));
    all.push_back(check_of_outliers(analysis));
    return all;
}

std::string steps_used(const Analysis& analysis)
{
    std::vector<std::string> parts;
    for (const auto& [reason, count] : analysis.counts)
        if (reason != LeftOut::no && count > 0) parts.push_back(join(count, " (", text(reason), ")"));
    return join(counted(count_of(analysis, LeftOut::no), "step"), " used; ",
                parts.empty() ? "none left out" : "left out: " + base::join_words(parts, ", "), ".");
}

std::vector<std::string> not_said(const Report& report)
{
    const Slot& slot = report.run.slots.front().front();
    const std::string length_s = fixed(static_cast<double>(slot.end_ns - slot.begin_ns) / 1e9, 2);
    return {
        "It holds for this training, on these nodes, with this noise on these cores. Other models, numbers of ranks or "
        "machines need their own measurement.",
        "A noise was on for " + length_s + " s at a time. Slower effects (disk caches, heat, quotas) are not seen.",
        "Excluded outliers are not in the slowdown; their rate under each noise is in the table above.",
        report.verdict.looks != Looks::none
            ? "Intervals and p-values are valid at every check. Medians and outliers are those of the run's end."
            : "The length of a run should be fixed beforehand. "
              "Stopping when the interval looks narrow makes it too narrow."};
}

}  // namespace

std::string absorption(const Report& report)
{
    const std::optional<Absorbed>& absorbed = report.verdict.absorbed;
    if (!absorbed) return "";
    return join("Absorbed part of the control delay: ", fixed(absorbed->percent, 1), " % (",
                range({absorbed->low_percent, absorbed->high_percent}), "). GPUs computed in ",
                fixed(report.verdict.delay->covered_percent, 1),
                " % of the delay, the most that queued work can absorb.");
}

Findings findings(const Report& report)
{
    Findings found{.run = identity(report),
                   .text = verdict_text(report),
                   .next = next_run(report),
                   .control_checks = {},
                   .design_checks = design_checks(report),
                   .absorption = absorption(report),
                   .steps_used = steps_used(report.analysis),
                   .steps_looked_at = steps_looked_at(report.analysis),
                   .nodes = node_places(report),
                   .not_said = not_said(report)};
    found.control_checks = control_checks(report, found);
    return found;
}

}  // namespace analysis
