// SPDX-License-Identifier: Apache-2.0
#include "analysis/results/findings.hpp"

#include "analysis/results/next_run.hpp"
#include "analysis/results/numbers.hpp"
#include "analysis/results/record.hpp"
#include "base/contract/factor_name.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <functional>

namespace analysis {

namespace {

using base::join;
using base::page::Grade;
using Json = nlohmann::ordered_json;

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
                "No rhythm of the machine can pass for an effect."};
    return {Grade::not_held, "Order", "Order of the noise", "not random",
            "A fixed sequence: a rhythm of the machine with the same period would pass for an effect, "
            "and p-values come from the t test instead of re-randomisation."};
}

std::size_t count_of(const Analysis& analysis, LeftOut reason)
{
    const auto found = analysis.counts.find(reason);
    return found == analysis.counts.end() ? 0 : found->second;
}

Check check_of_outliers(const Analysis& analysis)
{
    const std::string found = join(analysis.long_steps.count(), " of ", counted(steps_looked_at(analysis), "step"));
    if (!analysis.long_steps.rare)
        return {Grade::not_held, "Outliers", "Outliers", found,
                "Too many under one noise for accidents, so they stay in the estimate; intervals are wider."};
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

// A value of a record as text, whatever its type.
std::string shown(const Json& json, const std::string& key)
{
    const auto found = json.find(key);
    if (found == json.end() || found->is_null()) return "";
    if (found->is_string()) return found->get<std::string>();
    const auto plain = [](const Json& one) {
        return one.is_string() ? one.get<std::string>() : base::json_text(one, base::one_line);
    };
    std::vector<std::string> words;
    if (found->is_array())
        for (const auto& word : *found) words.push_back(base::shell_word(plain(word)));
    else if (found->is_object())
        for (const auto& [name, value] : found->items()) words.push_back(name + "=" + base::shell_word(plain(value)));
    else
        return plain(*found);
    return base::join_words(words, " ");
}

// A member of the record, or of its member "training", as text.
std::string shown_anywhere(const Json& record, const std::string& key)
{
    std::string value = shown(record, key);
    if (!value.empty()) return value;
    const auto training = record.find("training");
    return training != record.end() && training->is_object() ? shown(*training, key) : "";
}

// Formats a rate in `unit`; empty if it is zero.
std::string speed(double per_s, double unit, const std::string& name)
{
    return per_s > 0.0 ? fixed(per_s / unit, 2) + name : "";
}

}  // namespace

Findings findings(const Report& report)
{
    Findings found{.run = identity(report),
                   .headline = headline(report),
                   .measured = measured(report),
                   .scope = scope(report),
                   .again = again(report)};
    for (const FactorVerdict& factor : report.verdict.factors)
        found.outlooks.push_back(is_open(factor) ? outlook(report, factor) : "");
    if (report.verdict.looked) found.price_of_looking = price_of_looking(report);
    return found;
}

std::string absorption(const Report& report)
{
    const std::optional<Control>& delay = report.verdict.delay;
    if (!report.run.gpu.known() || !delay || !delay->connected || delay->true_percent <= 0.0) return "";
    const Absorbed absorbed = absorbed_of(*delay);
    return join("Absorbed part of the control delay: ", fixed(absorbed.percent, 1), " % (",
                range({absorbed.low_percent, absorbed.high_percent}), "). GPUs computed in ",
                fixed(delay->covered_percent, 1), " % of the delay, the most that queued work can absorb.");
}

std::vector<Check> control_checks(const Report& report)
{
    const Verdict& verdict = report.verdict;
    const Analysis& analysis = report.analysis;
    std::vector<Check> all;
    all.push_back(check_of("Placebo", "Placebo: noise that does nothing", verdict.placebo, "0 %",
                           "The measured effect must be zero."));
    if (verdict.delay || !verdict.pause)
        all.push_back(check_of(
            "Known delay", "Control: a delay of known length", verdict.delay, truth_of(verdict.delay),
            "Requested from the training, which records it. Measured against its sham, it must equal the record." +
                cost_of_sham(verdict) + with_blank_before(absorption(report))));
    if (verdict.pause)
        all.push_back(
            check_of("Known pause", "Control: pauses of known length", verdict.pause, truth_of(verdict.pause),
                     verdict.pause->judged
                         ? "All processes of the training stopped. The measured effect must equal the stopped time."
                         : "Not judged: the training computes while its processes are stopped, as on a GPU."));
    all.push_back({grade_of(verdict.covered), "Coverage", "Noise covered the training",
                   fixed(100.0 * analysis.covered_share, 1) + " % after its warm-up",
                   "By the noise's own record, on the clock of each node."});
    return all;
}

std::vector<Check> checks(const Report& report)
{
    const Analysis& analysis = report.analysis;
    std::vector<Check> all = control_checks(report);
    all.push_back({grade_of(analysis.blocks >= 5), "Repetitions", "Independent repetitions",
                   counted(static_cast<std::size_t>(analysis.blocks), "block"),
                   join("Each holds every noise and quiet", report.run.plan.randomised() ? ", in random order" : "",
                        "; ", counted(static_cast<std::size_t>(analysis.dropped_blocks), "incomplete block"),
                        " left out. Intervals rest on blocks, not on steps.")});
    all.push_back(check_of_order(report.run.plan));
    all.push_back(check_of_outliers(analysis));
    return all;
}

std::size_t steps_looked_at(const Analysis& analysis)
{
    return count_of(analysis, LeftOut::no) + count_of(analysis, LeftOut::outlier);
}

std::string steps_used(const Analysis& analysis)
{
    std::vector<std::string> parts;
    for (const auto& [reason, count] : analysis.counts)
        if (reason != LeftOut::no && count > 0) parts.push_back(join(count, " (", text(reason), ")"));
    return join(counted(count_of(analysis, LeftOut::no), "step"), " used; ",
                parts.empty() ? "none left out" : "left out: " + base::join_words(parts, ", "), ".");
}

std::vector<Fact> facts(const Json& record)
{
    constexpr std::size_t longest = 2000;
    const std::vector<std::pair<std::string, std::string>> wanted{{"command_line", "command"},
                                                                  {"host", "host"},
                                                                  {"cpu_model", "processor"},
                                                                  {"cpus", "CPUs used"},
                                                                  {"kernel", "kernel"},
                                                                  {"started", "started"},
                                                                  {"ranks", "processes"},
                                                                  {"model", "model"},
                                                                  {"data", "data"},
                                                                  {"strategy", "strategy"},
                                                                  {"batch", "batch"},
                                                                  {"transport", "transport"},
                                                                  {"schedule", "schedule"},
                                                                  {"seed", "seed"},
                                                                  {"avoided_cpus", "CPUs avoided"},
                                                                  {"clock_identity", "clock"},
                                                                  {"environment", "environment"},
                                                                  {"version", "Crosstalk"},
                                                                  {"git_revision", "revision"}};
    std::vector<Fact> all;
    for (const auto& [key, name] : wanted) {
        const std::string value = shown_anywhere(record, key);
        if (!value.empty() && value != "{}") all.push_back({name, value.substr(0, longest)});
    }
    return all;
}

std::vector<LevelDone> levels_done(const Json& record)
{
    std::vector<LevelDone> all;
    for (const Json& level : list_in(record, "factor_levels"))
        if (level.is_object())
            all.push_back({shown(level, "factor"), shown(level, "level"), shown(level, "stressor"),
                           shown(level, "slots"), speed(dose_in(level, "bytes"), 1e9, " GB/s"),
                           speed(dose_in(level, "operations"), 1.0, " /s")});
    return all;
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
        report.verdict.looked
            ? "Intervals and p-values are valid at repeated looks. Medians and outliers are those of the run's end."
            : "The length of a run should be fixed beforehand. "
              "Stopping when the interval looks narrow makes it too narrow."};
}

}  // namespace analysis
