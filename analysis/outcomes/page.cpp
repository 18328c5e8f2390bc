// SPDX-License-Identifier: Apache-2.0
// The HTML page on soft-error trials.
#include "analysis/outcomes/page.hpp"

#include "analysis/outcomes/maps.hpp"
#include "analysis/report/writers/html_text.hpp"
#include "analysis/results/numbers.hpp"
#include "base/error.hpp"
#include "base/words.hpp"

#include <algorithm>

namespace analysis {

namespace {

// Mean latency, with its interval if there is one.
std::string latency_text(const GuardRow& row)
{
    if (!row.latency) return {};
    if (!row.latency_interval) return fixed(*row.latency, 1);
    return base::join(fixed(*row.latency, 1), " (", fixed(row.latency_interval->low, 1), " to ",
                      fixed(row.latency_interval->high, 1), ")");
}

// Cost in quiet and, if measured, with noise.
std::string cost_text(const GuardRow& row, const std::string& noise)
{
    std::string text = row.cost_percent ? range(row.cost_percent->interval(0.95)) : std::string{};
    if (row.noisy_cost_percent)
        text +=
            base::join(text.empty() ? "" : "; ", "under ", noise, ": ", range(row.noisy_cost_percent->interval(0.95)));
    return text;
}

std::string class_table(const OutcomeReport& report)
{
    std::vector<std::vector<Cell>> rows;
    for (const ClassShare& one : in_front(report))
        rows.push_back({words(one.strategy), words(altered(one)), words(one.what), number(count_text(one)),
                        number(share_text(one, 2)), number(interval_text(one))});
    return dense(table({"strategy", "target", "class", "trials", "share", "95 % interval"}, rows));
}

std::string strategy_table(const OutcomeReport& report)
{
    if (report.comparisons.empty()) return {};
    std::vector<std::vector<Cell>> rows;
    for (const StrategyComparison& one : report.comparisons)
        rows.push_back({words(base::join(one.first, " | ", one.second)), words(one.target),
                        number(base::join(one.pairs)), number(base::join(one.only_first)),
                        number(base::join(one.only_second)), number(p_value(one.p)),
                        number(one.least_difference ? base::join(*one.least_difference) : "none")});
    return "<p>Trials that ruin the training with one strategy alone; McNemar's exact test, and the smallest "
           "difference that this number of trials could show.</p>\n" +
           dense(
               table({"strategies", "target", "pairs", "first alone", "second alone", "p", "least difference"}, rows));
}

std::string guard_table(const OutcomeReport& report)
{
    if (report.guards.size() < 2) return {};
    std::vector<std::vector<Cell>> rows;
    for (const GuardRow& one : report.guards)
        rows.push_back({words(one.guard), number(base::join(one.ruined.trials)), number(base::join(one.ruined.count)),
                        number(interval_text(one.caught)), number(latency_text(one)),
                        number(interval_text(one.false_alarms)), words(cost_text(one, report.noise)),
                        words(one.worth)});
    const bool weighted = std::any_of(report.guards.begin(), report.guards.end(),
                                      [](const GuardRow& one) { return one.caught.is_weighted; });
    return base::join(weighted ? "<p>The column caught is a share of all flips.</p>\n" : "") +
           dense(table({"guard", "trials", "ruined", "caught", "latency, steps", "false alarms", "cost", "worth it"},
                       rows));
}

std::string ruined_table(const OutcomeReport& report)
{
    if (report.ruined.empty()) return {};
    std::vector<std::vector<Cell>> rows;
    for (const RuinedRuns& one : report.ruined)
        rows.push_back({words(one.strategy), words(one.target), number(base::join(one.flips)),
                        number(base::join(one.ruined)),
                        number(base::join(one.interval.low, " to ", one.interval.high))});
    return dense(table({"strategy", "target", "flips", "ruined", "95 % interval"}, rows));
}

// The row whose interval begins highest; empty if no trial was ruined there.
std::string worst_of(const std::vector<MapRow>& rows, const char* what)
{
    const auto worst = std::max_element(rows.begin(), rows.end(), [](const MapRow& one, const MapRow& other) {
        if (one.flips != other.flips) return one.flips > other.flips;  // one flip is the best evidence on a place
        return one.ruined.percent_interval.low < other.ruined.percent_interval.low;
    });
    if (worst == rows.end() || worst->ruined.count == 0) return {};
    return base::join("Worst ", what, ": ", label(*worst), " (", worst->strategy, ", ", worst->target, "), ",
                      count_text(worst->ruined), " ruined, ", share_text(worst->ruined, 2), " (",
                      interval_text(worst->ruined), ")");
}

std::string answer_of(const OutcomeReport& report)
{
    std::vector<std::string> items;
    for (const ClassShare& one : in_front(report))
        if (one.count > 0)
            items.push_back(base::join(one.strategy, ", ", altered(one), ": ", one.what, " ", count_text(one), ", ",
                                       share_text(one, 2), " (", interval_text(one), ")"));
    for (const std::string& worst : {worst_of(bit_map(report), "bit"), worst_of(layer_map(report), "layer")})
        if (!worst.empty()) items.push_back(worst);
    for (const GuardRow& one : report.guards)
        if (!one.worth.empty()) items.push_back(base::join("Guard ", one.guard, ": ", one.worth));
    if (items.empty()) return {};
    const auto guarded =
        std::count_if(report.trials.begin(), report.trials.end(),
                      [](const ClassedTrial& one) { return one.trial.kind == base::trial_kind::trial; }) -
        static_cast<std::ptrdiff_t>(left_to_themselves(report.trials).size());
    return fill(
        "<ul class=\"plain\">{}</ul>\n<p class=\"small\">A share of all flips is that of flips drawn with equal "
        "probability. It differs from count / trials, because bits that were tried more often have less "
        "weight.{}</p>\n",
        {list(items),
         guarded > 0 ? base::join(" ", guarded,
                                  " trials with a guard that repairs or rolls back are only in the table of guards.")
                     : std::string{}});
}

// Explains the names of the classes, and the band.
std::string words_of_classes(const OutcomeReport& report)
{
    std::string text =
        "<p>Crashed: ended its process. Collapsed: the loss is not finite, or guessing blindly is as good. Degraded: "
        "ends below the band. Recovered: was worse for some steps. Latent: ends in the band, but a value that is not "
        "finite or 1,000 times the largest stays. Tolerated: ends in the band. Masked: ends with the same bits. The "
        "first three are ruined.</p>\n";
    for (const auto& [of, band] : report.bands) {
        const auto [least, most] = std::minmax_element(band.accuracies.begin(), band.accuracies.end());
        text += "<p>" +
                escape(base::join("The band: of ", band.accuracies.size(), " undisturbed trainings of ", of.first,
                                  " with ", of.second, " steps ", fixed(100.0 * *least, 1), " to ",
                                  fixed(100.0 * *most, 1), " % of the held-out answers are right; below ",
                                  fixed(100.0 * band.low, 1), " % a trial is degraded.")) +
                "</p>\n";
    }
    return text;
}

// A drawing with a scroll bar for small screens.
std::string framed(const std::string& drawing)
{
    return fill("<figure tabindex=\"0\">{}</figure>\n", {drawing});
}

std::string stored_section(const std::optional<Plot>& stored, const std::filesystem::path& folder)
{
    return stored ? figure(*stored, folder) : std::string{};
}

std::vector<base::page::Trust> trust_in(const OutcomeReport& report)
{
    using base::page::Grade;
    const auto any = [&](const char* kind) {
        return std::any_of(report.trials.begin(), report.trials.end(),
                           [&](const ClassedTrial& one) { return one.trial.kind == kind; });
    };
    const auto grade = [&](bool tested) {
        return !tested ? Grade::not_tested : report.not_trustworthy.empty() ? Grade::held : Grade::not_held;
    };
    return {{"Null trials", grade(any(base::trial_kind::null)), "Nothing is altered: they must end with the same bits"},
            {"Positive trials", grade(any(base::trial_kind::positive)), "A value is not finite: they must collapse"},
            {"Band", grade(!report.bands.empty()), "The training itself must lie in the band of undisturbed ones"}};
}

std::string trust_title(const OutcomeReport& report)
{
    return report.not_trustworthy.empty() ? "Why it is trustworthy" : "Why it is not trustworthy";
}

std::string list_of_checks()
{
    return "<p>Null trials, in which nothing is altered, must end with the same bits; positive ones, in which a value "
           "is not finite, must collapse; and the training itself must lie in the band of undisturbed ones.</p>\n";
}

}  // namespace

std::string page_of(const OutcomeReport& report, const std::optional<Plot>& stored, const std::filesystem::path& folder)
{
    std::size_t trials = 0;
    for (const ClassedTrial& one : report.trials)
        trials += one.trial.kind == base::trial_kind::trial || one.trial.kind == base::trial_kind::stored ? 1 : 0;
    const std::string title = base::join("What became of ", trials, " altered trainings");
    const bool any = !report.shares.empty();
    const std::string layers = any ? framed(bars(layer_map(report), "Ruined trials by layer")) : "";
    return base::page::html_of(
        {.title = title,
         .description = "outcomes of soft errors in a training",
         .headline = title,
         .trust = trust_in(report),
         .warning =
             report.not_trustworthy.empty() ? "" : base::page::warning("✗ Not trustworthy", "", report.not_trustworthy),
         .answer = (any ? framed(class_bars(in_front(report))) : stored_section(stored, folder)) + answer_of(report),
         .evidence = {{trust_title(report), list_of_checks()},
                      {"Classes", (any ? class_table(report) : "") + words_of_classes(report)},
                      {"Strategies on the same trials", any ? strategy_table(report) : ""},
                      {"Guards", guard_table(report)},
                      {"Runs ruined in 1,000 node hours", ruined_table(report)},
                      {"Ruined by bit", any ? framed(bars(bit_map(report), "Ruined trials by bit")) : ""},
                      {"Ruined by layer", layers},
                      {"Ruined by layer and step",
                       any ? framed(squares(layer_step_map(report), "Ruined trials by layer and step")) : ""},
                      {"Stored weights", any ? stored_section(stored, folder) : ""}},
         .foot = "<p class=\"small\">Tables: " +
                 links({"classes.csv", "trials.csv", "bit_map.csv", "layer_map.csv", "layer_step_map.csv",
                        "strategies.csv", "guards.csv", "ruined.csv", "bands.csv", "stored.csv"}) +
                 "</p>\n"});
}

}  // namespace analysis
