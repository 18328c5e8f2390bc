// SPDX-License-Identifier: Apache-2.0
// Writes the files of a report on soft-error trials.
#include "analysis/outcomes/maps.hpp"
#include "analysis/outcomes/page.hpp"
#include "analysis/outcomes/stored.hpp"
#include "analysis/outcomes/tables.hpp"
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

// The bounds of a share in percent: "0.60 to 15.50".
std::string bounds_text(const ClassShare& share)
{
    if (share.trials == 1) return interval_text(share);
    return fixed(share.percent_interval.low, 2) + " to " + fixed(share.percent_interval.high, 2);
}

std::string cell_of(const std::optional<double>& number)
{
    return number ? base::join(*number) : std::string{};
}

// Cells of a cost: its mean and its 95 % interval.
std::array<std::string, 3> cost_cells(const std::optional<base::Mean>& percent)
{
    if (!percent) return {};
    const base::Interval interval = percent->interval(0.95);
    return {base::join(percent->value), base::join(interval.low), base::join(interval.high)};
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
            out << "  " << one.what << ": " << (one.is_weighted ? count_text(one) : base::join(one.count)) << ", "
                << share_text(one, 2) << " (" << bounds_text(one) << ")\n";
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
