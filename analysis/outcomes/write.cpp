// SPDX-License-Identifier: Apache-2.0
// The files of a report on trials of soft errors.
#include "analysis/outcomes/maps.hpp"
#include "analysis/outcomes/stored.hpp"
#include "analysis/outcomes/tables.hpp"
#include "analysis/report/writers/html.hpp"
#include "analysis/report/writers/html_text.hpp"
#include "analysis/results/numbers.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/statistics.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <optional>

namespace analysis {

namespace fs = std::filesystem;

namespace {

using Table = base::CsvWriter;

// Over all locations and bits; where trials had several numbers of flips, of each number.
std::vector<ClassShare> in_front(const OutcomeReport& report)
{
    const auto of_number = [](const ClassShare& one) { return one.flips != 0; };
    const bool several = std::any_of(report.shares.begin(), report.shares.end(), of_number);
    std::vector<ClassShare> found;
    for (const ClassShare& one : report.shares)
        if (one.location == "all" && one.bit == "all" && of_number(one) == several) found.push_back(one);
    return found;
}

// "model", "model, 24 flips"
std::string altered(const ClassShare& one)
{
    return one.flips == 0 ? one.target
                          : base::join(one.target, ", ", counted(static_cast<std::size_t>(one.flips), "flip"));
}

void write_classes(const fs::path& file, const OutcomeReport& report)
{
    Table table{file,
                {"strategy", "target", "location", "bit", "class", "trials", "count", "low_percent", "high_percent",
                 "percent", "flips", "weighted"},
                Table::Appear::whole};
    for (const ClassShare& one : report.shares)
        table.row(one.strategy, one.target, one.location, one.bit, one.what, one.trials, one.count,
                  one.percent_interval.low, one.percent_interval.high, one.percent,
                  one.flips == 0 ? std::string{"all"} : std::to_string(one.flips), one.is_weighted ? 1 : 0);
    table.finish();
}

void write_trials(const fs::path& file, const OutcomeReport& report)
{
    Table table{file,
                {"trial", "kind", "strategy", "target", "step", "location", "bit", "class", "recovered_after", "weight",
                 "worse_until"},
                Table::Appear::whole};
    for (std::size_t i = 0; i < report.trials.size(); ++i) {
        const ClassedTrial& one = report.trials[i];
        table.row(one.trial.name, one.trial.kind, one.strategy, one.trial.target, one.trial.step, one.location, one.bit,
                  one.what, one.recovered_after, report.weights[i], one.worse_until);
    }
    table.finish();
}

void write_map(const fs::path& file, const char* of, const std::vector<MapRow>& rows)
{
    Table table{file,
                {"strategy", "target", of, "flips", "step", "trials", "ruined", "percent", "low_percent",
                 "high_percent", "weighted"},
                Table::Appear::whole};
    for (const MapRow& row : rows)
        table.row(row.strategy, row.target, row.of, row.flips,
                  row.step < 0 ? std::string{"all"} : std::to_string(row.step), row.ruined.trials, row.ruined.count,
                  row.ruined.percent, row.ruined.percent_interval.low, row.ruined.percent_interval.high,
                  row.ruined.is_weighted ? 1 : 0);
    table.finish();
}

void write_strategies(const fs::path& file, const OutcomeReport& report)
{
    Table table{file,
                {"first", "second", "target", "pairs", "only_first", "only_second", "p", "least_difference"},
                Table::Appear::whole};
    for (const StrategyComparison& one : report.comparisons)
        table.row(one.first, one.second, one.target, one.pairs, one.only_first, one.only_second, one.p,
                  one.least_difference ? std::to_string(*one.least_difference) : std::string{});
    table.finish();
}

std::string cell_of(const std::optional<double>& number)
{
    return number ? base::join(*number) : std::string{};
}

// Mean and 95 % interval.
std::array<std::string, 3> cost_cells(const std::optional<base::Mean>& percent)
{
    if (!percent) return {};
    const base::Interval interval = percent->interval(0.95);
    return {base::join(percent->value), base::join(interval.low), base::join(interval.high)};
}

// Mean, and its interval where there is one.
std::string latency_text(const GuardRow& row)
{
    if (!row.latency) return {};
    if (!row.latency_interval) return fixed(*row.latency, 1);
    return base::join(fixed(*row.latency, 1), " (", fixed(row.latency_interval->low, 1), " to ",
                      fixed(row.latency_interval->high, 1), ")");
}

// In quiet, and beside noise where that was tried.
std::string cost_text(const GuardRow& row, const std::string& noise)
{
    std::string text = row.cost_percent ? range(row.cost_percent->interval(0.95)) : std::string{};
    if (row.noisy_cost_percent)
        text +=
            base::join(text.empty() ? "" : "; ", "beside ", noise, ": ", range(row.noisy_cost_percent->interval(0.95)));
    return text;
}

void write_guards(const fs::path& file, const OutcomeReport& report)
{
    Table table{file,
                {"guard",
                 "trials",
                 "ruined",
                 "caught",
                 "caught_percent",
                 "caught_low_percent",
                 "caught_high_percent",
                 "latency_steps",
                 "nulls",
                 "false_alarms",
                 "false_low_percent",
                 "false_high_percent",
                 "cost_percent",
                 "cost_low_percent",
                 "cost_high_percent",
                 "worth",
                 "noise",
                 "noisy_cost_percent",
                 "noisy_cost_low_percent",
                 "noisy_cost_high_percent",
                 "latency_low_steps",
                 "latency_high_steps",
                 "weighted"},
                Table::Appear::whole};
    for (const GuardRow& one : report.guards) {
        const std::array<std::string, 3> cost = cost_cells(one.cost_percent);
        const std::array<std::string, 3> noisy = cost_cells(one.noisy_cost_percent);
        const base::Interval& caught = one.caught.percent_interval;
        const base::Interval& alarms = one.false_alarms.percent_interval;
        table.row(one.guard, one.ruined.trials, one.ruined.count, one.caught.count, one.caught.percent, caught.low,
                  caught.high, cell_of(one.latency), one.false_alarms.trials, one.false_alarms.count, alarms.low,
                  alarms.high, cost[0], cost[1], cost[2], one.worth, report.noise, noisy[0], noisy[1], noisy[2],
                  one.latency_interval ? base::join(one.latency_interval->low) : std::string{},
                  one.latency_interval ? base::join(one.latency_interval->high) : std::string{},
                  one.caught.is_weighted ? 1 : 0);
    }
    table.finish();
}

void write_ruined(const fs::path& file, const OutcomeReport& report)
{
    Table table{file, {"strategy", "target", "flips", "ruined", "low", "high"}, Table::Appear::whole};
    for (const RuinedRuns& one : report.ruined)
        table.row(one.strategy, one.target, one.flips, one.ruined, one.interval.low, one.interval.high);
    table.finish();
}

void write_bands(const fs::path& file, const OutcomeReport& report)
{
    Table table{file, {"steps", "seeds", "lowest", "highest", "low", "model"}, Table::Appear::whole};
    for (const auto& [of, band] : report.bands) {
        const auto [least, most] = std::minmax_element(band.accuracies.begin(), band.accuracies.end());
        table.row(of.second, band.accuracies.size(), *least, *most, band.low, of.first);
    }
    table.finish();
}

std::string class_table(const OutcomeReport& report)
{
    std::vector<std::vector<Cell>> rows;
    for (const ClassShare& one : in_front(report))
        rows.push_back({words(one.strategy), words(altered(one)), words(one.what), number(base::join(one.trials)),
                        number(base::join(one.count)), number(fixed(one.percent, 2) + " %" + weighting(one)),
                        number(interval_text(one))});
    return dense(table({"strategy", "target", "class", "trials", "count", "share", "95 % interval"}, rows));
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
    return "<h2>Strategies on the same trials</h2>\n<p>Trials that ruin the training with only one strategy; "
           "McNemar's exact test, and the smallest difference that this number of trials can show.</p>\n" +
           dense(
               table({"strategies", "target", "pairs", "first alone", "second alone", "p", "least difference"}, rows));
}

std::string guard_table(const OutcomeReport& report)
{
    std::vector<std::vector<Cell>> rows;
    for (const GuardRow& one : report.guards)
        rows.push_back({words(one.guard), number(base::join(one.ruined.trials)), number(base::join(one.ruined.count)),
                        number(interval_text(one.caught)), number(latency_text(one)),
                        number(interval_text(one.false_alarms)), number(cost_text(one, report.noise)),
                        words(one.worth)});
    const bool weighted = std::any_of(report.guards.begin(), report.guards.end(),
                                      [](const GuardRow& one) { return one.caught.is_weighted; });
    return base::join("<h2>Guards</h2>\n", weighted ? "<p>Caught shares are weighted by bits.</p>\n" : "") +
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
    return "<h2>Runs ruined in 1,000 node hours</h2>\n" +
           dense(table({"strategy", "target", "flips", "ruined", "95 % interval"}, rows));
}

std::string warning_of(const OutcomeReport& report)
{
    if (report.not_trustworthy.empty())
        return "<div class=\"banner good\"><h2>Trustworthy</h2><p>Null trials end with identical bits, positive "
               "trials collapse, and the training lies in the band.</p></div>\n";
    std::string text = "<div class=\"banner bad\"><h2>Not trustworthy</h2>\n<ul>\n";
    for (const std::string& why : report.not_trustworthy) text += "<li>" + escape(why) + "</li>\n";
    return text + "</ul></div>\n";
}

// The place whose interval begins highest; nothing where no trial was ruined there.
std::string worst_of(const std::vector<MapRow>& rows, const char* what)
{
    const auto worst = std::max_element(rows.begin(), rows.end(), [](const MapRow& one, const MapRow& other) {
        if (one.flips != other.flips) return one.flips > other.flips;  // one flip tells most of a place
        return one.ruined.percent_interval.low < other.ruined.percent_interval.low;
    });
    if (worst == rows.end() || worst->ruined.count == 0) return {};
    return "<li>" +
           escape(base::join("Worst ", what, ": ", label(*worst), " (", worst->strategy, ", ", worst->target, "), ",
                             worst->ruined.count, " of ", worst->ruined.trials, " trials ruined, ",
                             fixed(worst->ruined.percent, 2), " % (", interval_text(worst->ruined), ")",
                             weighting(worst->ruined))) +
           "</li>\n";
}

std::string answer_of(const OutcomeReport& report)
{
    std::string list;
    for (const ClassShare& one : in_front(report))
        if (one.count > 0)
            list += "<li>" +
                    escape(base::join(one.strategy, ", ", altered(one), ": ", one.what, " ", fixed(one.percent, 2),
                                      " % (", interval_text(one), ")", weighting(one), "; ", one.count, " of ",
                                      counted(static_cast<std::size_t>(one.trials), "trial"))) +
                    "</li>\n";
    list += worst_of(bit_map(report), "bit") + worst_of(layer_map(report), "layer");
    for (const GuardRow& one : report.guards)
        if (!one.worth.empty()) list += "<li>" + escape(base::join("Guard ", one.guard, ": ", one.worth)) + "</li>\n";
    if (list.empty()) return list;
    const auto guarded =
        std::count_if(report.trials.begin(), report.trials.end(),
                      [](const ClassedTrial& one) { return one.trial.kind == base::trial_kind::trial; }) -
        static_cast<std::ptrdiff_t>(left_to_themselves(report.trials).size());
    return "<ul class=\"plain\">\n" + list +
           "</ul>\n<p>Shares are for flips drawn evenly over bits, so a weighted share differs from count / trials: "
           "trials of bits drawn more often count less." +
           (guarded > 0 ? base::join(" ", guarded,
                                     " trials with a guard that repairs or rolls back are only in the table of guards.")
                        : std::string{}) +
           "</p>\n";
}

// Frame of a drawing, which has a scroll bar where the screen is small.
std::string framed(const std::string& drawing)
{
    return "<figure tabindex=\"0\">" + drawing + "</figure>\n";
}

// Meaning of the classes' names, and of the band.
std::string words_of_classes(const OutcomeReport& report)
{
    std::string text =
        "<p>Crashed: ended its process. Collapsed: the loss is not finite, or no better than guessing. Degraded: "
        "ends below the band. Recovered: was worse for some steps. Latent: ends in the band, but a value that is not "
        "finite or 1,000 times the largest remains. Tolerated: ends in the band. Masked: ends with identical bits. The "
        "first three are ruined.</p>\n";
    for (const auto& [of, band] : report.bands) {
        const auto [least, most] = std::minmax_element(band.accuracies.begin(), band.accuracies.end());
        text += "<p>" +
                escape(base::join("The band: of ", band.accuracies.size(), " undisturbed trainings of ", of.first,
                                  " with ", of.second, " steps ", fixed(100.0 * *least, 1), " to ",
                                  fixed(100.0 * *most, 1), " % accuracy on held-out samples; below ",
                                  fixed(100.0 * band.low, 1), " % a trial is degraded.")) +
                "</p>\n";
    }
    return text;
}

std::string page_of(const OutcomeReport& report, const std::optional<Plot>& stored, const fs::path& folder)
{
    std::size_t trials = 0;
    for (const ClassedTrial& one : report.trials)
        trials += one.trial.kind == base::trial_kind::trial || one.trial.kind == base::trial_kind::stored ? 1 : 0;
    const std::string title = base::join("Outcomes of ", trials, " altered trainings");
    std::string body = "<h1>" + escape(title) + "</h1>\n" + warning_of(report);
    body += answer_of(report);
    if (!report.shares.empty()) body += "<h2>Classes</h2>\n" + class_table(report);
    body += words_of_classes(report);
    if (!report.shares.empty()) body += strategy_table(report);
    if (report.guards.size() > 1) body += guard_table(report);
    body += ruined_table(report);
    if (!report.shares.empty()) {
        body += "<h2>Ruined by bit</h2>\n" + framed(bars(bit_map(report), "Ruined trials by bit"));
        body += "<h2>Ruined by layer</h2>\n" + framed(bars(layer_map(report), "Ruined trials by layer"));
        body += "<h2>Ruined by layer and step</h2>\n" +
                framed(squares(layer_step_map(report), "Ruined trials by layer and step"));
    }
    if (stored) body += "<h2>" + escape(stored->title) + "</h2>\n" + figure(*stored, folder);
    body += "<p>Tables: " +
            links({"classes.csv", "trials.csv", "bit_map.csv", "layer_map.csv", "layer_step_map.csv", "strategies.csv",
                   "guards.csv", "ruined.csv", "bands.csv", "stored.csv"}) +
            "</p>\n";
    return page(title, "outcomes of soft errors in a training", body);
}

}  // namespace

void write_outcomes(const fs::path& directory, const OutcomeReport& report)
{
    base::WholeDirectory whole{directory};
    const fs::path& here = whole.path();
    write_classes(here / "classes.csv", report);
    write_trials(here / "trials.csv", report);
    write_strategies(here / "strategies.csv", report);
    write_guards(here / "guards.csv", report);
    write_ruined(here / "ruined.csv", report);
    write_bands(here / "bands.csv", report);
    const std::vector<StoredPoint> points = stored_points(report);
    write_stored(here / "stored.csv", points);
    write_map(here / "bit_map.csv", "bit", bit_map(report));
    write_map(here / "layer_map.csv", "location", layer_map(report));
    write_map(here / "layer_step_map.csv", "location", layer_step_map(report));
    base::write_whole(here / "bit_map.svg", bars(bit_map(report), "Ruined trials by bit"));
    base::write_whole(here / "layer_map.svg", bars(layer_map(report), "Ruined trials by layer"));
    base::write_whole(here / "layer_step_map.svg", squares(layer_step_map(report), "Ruined trials by layer and step"));
    std::optional<Plot> stored;
    if (!points.empty()) stored = draw_stored(here, points);
    base::write_whole(here / "index.html", page_of(report, stored, here));
    whole.finish();
}

void print_outcomes(std::ostream& out, const OutcomeReport& report)
{
    for (const std::string& why : report.not_trustworthy) out << "not trustworthy: " << base::printable(why) << "\n";
    std::string group;
    for (const ClassShare& one : in_front(report)) {
        if (const std::string next = base::join(one.strategy, ", ", altered(one)); next != group) {
            group = next;
            out << group << ", " << counted(static_cast<std::size_t>(one.trials), "trial") << "\n";
        }
        if (one.count > 0)
            out << "  " << one.what << ": " << one.count << ", " << fixed(one.percent, 2) << " % ("
                << fixed(one.percent_interval.low, 2) << " to " << fixed(one.percent_interval.high, 2) << ")"
                << weighting(one) << "\n";
    }
    for (const StrategyComparison& one : report.comparisons)
        out << one.first << " and " << one.second << ", " << one.target << ": of " << one.pairs << " pairs "
            << one.only_first << " ruined with the first alone, " << one.only_second << " with the second alone, p "
            << p_value(one.p) << "\n";
    for (const RuinedRuns& one : report.ruined)
        out << one.strategy << ", " << one.target << ": " << one.ruined << " runs ruined in 1,000 node hours ("
            << one.interval.low << " to " << one.interval.high << ")\n";
    for (const GuardRow& one : report.guards)
        if (!one.worth.empty()) out << "guard " << one.guard << ": " << one.worth << "\n";
}

}  // namespace analysis
