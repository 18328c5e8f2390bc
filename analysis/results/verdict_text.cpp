// SPDX-License-Identifier: Apache-2.0
#include "analysis/results/verdict_text.hpp"

#include "analysis/conclude/advice.hpp"
#include "analysis/metrics/metric.hpp"
#include "analysis/results/numbers.hpp"
#include "base/contract/factor_name.hpp"
#include "base/contract/job_cores.hpp"
#include "base/contract/verdict_words.hpp"
#include "base/error.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <cctype>

namespace analysis {

namespace {

using base::join;

constexpr std::size_t most_named = 4;  // noises named for a verdict in the headline; beyond it gives their number

enum class Which { all, noise, cores };

std::vector<std::string> judged_as(const Verdict& verdict, const std::string& word, Which of = Which::all)
{
    std::vector<std::string> noises;
    for (const FactorVerdict& factor : verdict.factors) {
        const Which kind = factor.stressor == base::job_cores::stressor ? Which::cores : Which::noise;
        if (factor.verdict == word && (of == Which::all || of == kind))
            noises.push_back(base::factor_name(factor.factor, factor.level));
    }
    return noises;
}

bool any_tried(const Verdict& verdict)
{
    return std::any_of(verdict.factors.begin(), verdict.factors.end(),
                       [](const FactorVerdict& factor) { return tried_setting(factor.level).has_value(); });
}

std::string measured(const Report& report)
{
    constexpr double much = 0.05;
    const double between = report.run.steps.between_share;
    return join(counted(report.analysis.counts.at(LeftOut::no), "step"), " measured, a quiet step takes ",
                fixed(report.verdict.quiet_step_ms, 2), " ms, budget ", report.verdict.budget_percent, " %",
                between > much ? join("; steps cover only ", fixed(100.0 * (1.0 - between), 1),
                                      " % of the time: measured from one step's start to the next")
                               : std::string{});
}

std::string scope(const Verdict& verdict, double price)
{
    std::string text =
        "The intervals do not cover variation between runs (placement, pages, clock, neighbours of a virtual machine).";
    if (!verdict.observed) text += " Use several runs for that: crosstalk run --runs 3.";
    if (verdict.looks == Looks::none) return text;
    return text + join(" The run was to end when all was decided, so its intervals are valid at every check: they are ",
                       fixed(price, 2), " times as wide as for a length fixed beforehand.");
}

// How many times as wide the intervals of the verdicts are as those of a run whose length was fixed.
double price_of_looking(const Report& report)
{
    const Verdict& verdict = report.verdict;
    if (verdict.looks == Looks::none) return 1.0;
    for (const Effect* effect : judged_effects(report.analysis)) {
        Mean fixed_length = effect->percent;
        fixed_length.looks = Looks::none;
        const double plain = fixed_length.interval(verdict.confidence).half_width();
        if (plain > 0.0) return effect->percent.interval(verdict.confidence_each).half_width() / plain;
    }
    return 1.0;
}

std::vector<Answer> answers(const Verdict& verdict)
{
    std::vector<Answer> all;
    const auto add = [&](const std::string& word, const std::string& before, const std::string& after_one,
                         const std::string& after_many, Which of = Which::all) {
        const std::vector<std::string> noises = judged_as(verdict, word, of);
        if (!noises.empty()) all.push_back({before, noises, noises.size() == 1 ? after_one : after_many});
    };
    const std::string budget = join(verdict.budget_percent, " %.");
    const std::string may_run = " may run beside this training: it slows down by less than " + budget;
    add(base::verdict_word::safe, "", may_run, may_run, Which::noise);
    const std::string enough = " leaves this training enough cores: it slows down by less than " + budget;
    add(base::verdict_word::safe, "", enough, enough, Which::cores);
    add(base::verdict_word::unsafe, "Keep ", " away: it costs more than " + budget,
        " away: they cost more than " + budget, Which::noise);
    const std::string too_few = " leaves this training too few cores: it slows down by more than " + budget;
    add(base::verdict_word::unsafe, "", too_few, too_few, Which::cores);
    add(base::verdict_word::undecided, "On ", " this run does not decide.", " this run does not decide.");
    const std::string cannot = " this run is too insensitive: it could not have seen " + budget;
    add(base::verdict_word::insensitive, "For ", cannot, cannot);
    return all;
}

std::string slowdown_note(const Verdict& verdict)
{
    std::string what = metric_named("slowdown").summary;
    what.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(what.front())));
    return join(
        "Slowdown: ", what, " In percent of a quiet step (", fixed(verdict.quiet_step_ms, 2), " ms), with its ",
        100.0 * verdict.confidence, " % interval. ",
        verdict.trustworthy
            ? "Safe: the whole interval is below the budget, also with outliers and carry-over. Unsafe: all of it "
              "is above. Undecided: neither. Insensitive: the run could not have seen an effect of the budget. "
            : "",
        any_tried(verdict) ? "Settings that were tried here are marked as such."
                           : "Settings act on such noise in general; this run did not try them.");
}

std::string truth_of(const std::optional<Control>& control)
{
    return control && control->connected ? percent(control->true_percent) : "not recorded";
}

}  // namespace

std::string headline(const Report& report)
{
    const Verdict& verdict = report.verdict;
    if (verdict.observed) return "Observed, not designed: no verdict";
    if (!verdict.trustworthy) return "No verdict: this run is not trustworthy";
    std::vector<std::string> parts;
    for (const char* word : {base::verdict_word::unsafe, base::verdict_word::undecided, base::verdict_word::insensitive,
                             base::verdict_word::safe}) {
        const std::vector<std::string> noises = judged_as(verdict, word);
        if (noises.empty()) continue;
        const bool few = noises.size() <= most_named;
        parts.push_back(join(word, ": ", few ? base::join_words(noises, ", ") : counted(noises.size(), "noise")));
    }
    if (parts.empty()) return "No verdict: the schedule has only controls";
    std::string line = base::join_words(parts, "; ");
    line.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(line.front())));
    return line;
}

VerdictText verdict_text(const Report& report)
{
    const double price = price_of_looking(report);
    return {.headline = headline(report),
            .measured = measured(report),
            .scope = scope(report.verdict, price),
            .answers = answers(report.verdict),
            .slowdown_note = slowdown_note(report.verdict),
            .delay_truth = truth_of(report.verdict.delay),
            .pause_truth = truth_of(report.verdict.pause),
            .price_of_looking = price};
}

}  // namespace analysis
