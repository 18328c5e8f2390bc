// SPDX-License-Identifier: Apache-2.0
#include "analysis/results/next_run.hpp"

#include "analysis/results/numbers.hpp"
#include "analysis/results/record.hpp"
#include "base/error.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>

namespace analysis {

namespace {

using base::join;
using Json = nlohmann::ordered_json;

// A recorded command line with new values for `options` (appended if missing), and without the options in `without`.
std::string with_options(const Json& record, const std::map<std::string, std::string>& options,
                         const std::set<std::string>& without)
{
    std::vector<std::string> words;
    std::set<std::string> given;
    const Json& recorded = list_in(record, "command_line");
    for (std::size_t i = 0; i < recorded.size(); ++i) {
        if (!recorded[i].is_string()) continue;
        const std::string word = recorded[i].get<std::string>();
        const std::string name = word.substr(0, word.find('='));
        if (without.contains(name)) {
            i += word == name ? 1 : 0;  // the next word is its value
            continue;
        }
        const auto option = options.find(name);
        if (option == options.end()) {
            words.push_back(base::shell_word(word));
            continue;
        }
        i += word == name ? 1 : 0;
        if (!given.insert(name).second) continue;
        words.push_back(name);
        words.push_back(base::shell_word(option->second));
    }
    for (const auto& [name, value] : options)
        if (!given.contains(name)) words.insert(words.end(), {name, base::shell_word(value)});
    return base::join_words(words, " ");
}

// Extra time of a batch job, until the training runs and for the report.
constexpr double minutes_around_run = 15.0;

// Replaces the last occurrence of `what`, because a directory may contain the same text.
std::string replaced(std::string text, const std::string& what, const std::string& with)
{
    if (const std::size_t at = text.rfind(what); at != std::string::npos) text.replace(at, what.size(), with);
    return text;
}

bool adds(const Report& report)
{
    return report.again.find("{missing}") != std::string::npos;
}

// Rounds a length: to tens of seconds, from five minutes on to minutes.
double round_seconds(double minutes)
{
    return minutes <= 5.0 ? 10.0 * std::ceil(6.0 * minutes) : 60.0 * std::ceil(minutes);
}

double missing_minutes(const Report& report, double minutes)
{
    const double missing = minutes - report.verdict.run_minutes;
    return missing > 0.0 ? missing : minutes;
}

std::size_t missing_runs(const Report& report, double minutes)
{
    const auto have = static_cast<double>(report.runs);
    const double wanted = have * minutes / report.verdict.run_minutes;
    return static_cast<std::size_t>(std::max(1.0, std::round(wanted - have)));
}

// The longest run that is proposed for an insensitive one.
constexpr double longest_proposed_minutes = 240.0;

// The smallest of the usual budgets that this run could have resolved.
std::string budget_it_could_see(const FactorVerdict& factor, double budget_percent)
{
    const double seen = std::max(factor.interval.half_width(), factor.at_worst.high);
    for (const double budget : {0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0})
        if (budget > budget_percent && budget > seen) return base::join(", or --budget ", budget, "%");
    return "";
}

// The addition by command_for() that reaches that length: "a new run of 14 min", "690 s more", "5 more runs".
std::string what_is_missing(const Report& report, double minutes)
{
    if (report.runs > 1) {
        const std::size_t runs = missing_runs(report, minutes);
        return join(runs, runs == 1 ? " more run" : " more runs");
    }
    if (adds(report)) return length_needed(round_seconds(missing_minutes(report, minutes)) / 60.0) + " more";
    return "a new run of " + length_needed(minutes);
}

std::string outlook(const Report& report, const FactorVerdict& factor)
{
    const bool of_runs = report.runs > 1;
    const bool insensitive = factor.verdict == base::verdict_word::insensitive;
    std::string text = insensitive
                           ? base::join("this run cannot resolve ", report.verdict.budget_percent, " %: ", factor.why)
                           : factor.why;
    if (!text.empty()) text += "; ";
    text += base::join(of_runs ? counted(report.runs, "run") : length_measured(report.analysis.blocks_s / 60.0),
                       " gave ± ", fixed(factor.interval.half_width(), 2), " points");
    if (insensitive) {
        const std::string other_budget = report.verdict.insensitive.empty()
                                             ? budget_it_could_see(factor, report.verdict.budget_percent)
                                             : std::string{};
        text += other_budget.empty() ? ". It takes a quieter machine or a longer run"
                                     : ". It takes a quieter machine, a longer run" + other_budget;
        if (!factor.forecast || factor.forecast->minutes > longest_proposed_minutes) return text;
        return text + base::join(" (", what_is_missing(report, factor.forecast->minutes), " would give ± ",
                                 fixed(factor.forecast->half_width_percent, 2), ")");
    }
    if (!factor.forecast)
        return text + "; no forecast from " +
               (of_runs ? counted(report.runs, "run")
                        : counted(static_cast<std::size_t>(report.analysis.blocks), "block"));
    const std::string half_width = base::join("± ", fixed(factor.forecast->half_width_percent, 2));
    if (factor.forecast->minutes >= forecast_limit_minutes)
        return text + "; " + half_width + " would take more than a day";
    return text + "; " + what_is_missing(report, factor.forecast->minutes) + " would give " + half_width;
}

std::optional<Again> again(const Report& report)
{
    const auto fails = [](const std::optional<Control>& control) {
        return control && control->connected && control->judged && !control->holds;
    };
    if (fails(report.verdict.pause) || fails(report.verdict.delay)) return std::nullopt;  // a longer run would not help
    const Forecast* longest = nullptr;
    for (const FactorVerdict& factor : report.verdict.factors)
        if (factor.forecast && (longest == nullptr || factor.forecast->minutes > longest->minutes))
            longest = &*factor.forecast;
    const bool feasible = longest != nullptr && longest->minutes < forecast_limit_minutes;
    const bool anew = report.runs == 1 && report.again.find("{missing}") == std::string::npos;
    const double have = report.verdict.run_minutes;
    const double minutes = feasible ? longest->minutes : anew ? have : 2.0 * have;
    const std::string command = command_for(report, minutes);
    if (command.empty()) return std::nullopt;
    const std::string missing = anew ? length_needed(minutes) : what_is_missing(report, minutes);
    if (!feasible)
        return Again{anew ? "Run this again, for as long" : join("Continue measuring: ", missing), std::nullopt,
                     60.0 * minutes, command};
    return Again{join(anew ? "Run this again for ± " : "Continue measuring for ± ",
                      fixed(longest->half_width_percent, 2), " %, ", missing),
                 longest->half_width_percent, 60.0 * minutes, command};
}

}  // namespace

std::string command_for(const Report& report, double minutes)
{
    const double length = round_seconds(minutes);
    const std::string seconds = join(length);
    if (report.runs > 1) return replaced(report.again, "{runs}", join(missing_runs(report, minutes)));
    if (adds(report)) {
        const double more = round_seconds(missing_minutes(report, minutes));
        const std::string in_time =
            replaced(report.again, "{job_minutes}", join(std::ceil(more / 60.0) + minutes_around_run));
        return replaced(in_time, "{missing}", join(more));
    }
    if (!report.again.empty()) return replaced(report.again, "{seconds}", seconds);
    const Record* training = training_record(report);
    const std::vector<const Record*> noise = noise_records(report);
    if (training == nullptr || noise.empty()) return "";
    const auto ranks = number_in(training->json, "ranks").value_or(1.0);
    const std::string out = "NEW_DIR";
    const std::string train =
        with_options(training->json, {{"--duration", seconds + "s"}, {"--out", out}}, {"--steps", "--epochs"});
    const std::string make =
        with_options(noise.front()->json, {{"--duration", join(length + 600.0) + "s"}, {"--out", out}}, {});
    return join(ranks > 1.0 ? join("mpirun -n ", ranks, " --bind-to none ") : "", train, " & sleep 5; ", make,
                " & wait %1; kill %2; wait; interference analyse ", out);
}

NextRun next_run(const Report& report)
{
    NextRun next{.again = again(report), .outlooks = {}, .commands = {}};
    for (const FactorVerdict& factor : report.verdict.factors) {
        const bool feasible = factor.forecast && factor.forecast->minutes < forecast_limit_minutes;
        next.outlooks.push_back(factor.is_open() ? outlook(report, factor) : "");
        next.commands.push_back(feasible ? command_for(report, factor.forecast->minutes) : "");
    }
    return next;
}

}  // namespace analysis
