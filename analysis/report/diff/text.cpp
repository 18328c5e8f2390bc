// SPDX-License-Identifier: Apache-2.0
// Writes the difference of two reports: on the terminal, as Markdown, as JSON and as a table.
#include "analysis/report/writers/text.hpp"

#include "analysis/report/diff/diff.hpp"
#include "analysis/results/numbers.hpp"
#include "base/contract/run_directory.hpp"
#include "base/contract/run_record.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <sstream>

namespace analysis {

namespace {

using base::join;
using DiffRows = std::vector<std::vector<std::string>>;

std::string points(double number)
{
    return fixed(number, std::abs(number) < 10.0 ? 2 : 1);
}

std::string signed_points(double number)
{
    return join(number > 0.0 ? "+" : "", points(number));
}

std::string points(const Interval& interval)
{
    return join(points(interval.low), " to ", points(interval.high));
}

// The change of a noise: "costs 3.1 points less (1.2 to 5.0)".
std::string changed(const NoiseDiff& noise)
{
    const bool more = noise.difference.value > 0.0;
    const Interval& interval = noise.difference.interval;
    return join(noise.noise, " costs ", points(std::abs(noise.difference.value)), " points ", more ? "more" : "less",
                " (", points(more ? interval : Interval{-interval.high, -interval.low}), ")");
}

// The table's rows, the header first.
DiffRows rows_of(const Diff& diff)
{
    DiffRows rows{{"noise", "before", "after", "difference, points", join(diff.confidence_percent, " % interval"),
                   "p (Holm)", "change"}};
    for (const NoiseDiff& noise : diff.noises)
        rows.push_back({noise.noise, join(signed_percent(noise.before.value), " (", range(noise.before.interval), ")"),
                        join(signed_percent(noise.after.value), " (", range(noise.after.interval), ")"),
                        signed_points(noise.difference.value), points(noise.difference.interval), p_value(noise.p_holm),
                        change_of(noise)});
    return rows;
}

std::string said_of(const DiffSide& side)
{
    return join(side.directory.string(), side.runs.empty() ? "" : join(", ", counted(side.runs.size(), "run")),
                ", quiet step ", fixed(side.quiet_step_ms, 2), " ms");
}

void write_table(const std::filesystem::path& file, const Diff& diff)
{
    base::CsvWriter table{file,
                          {"noise", "stressor", "before_percent", "before_low_percent", "before_high_percent",
                           "after_percent", "after_low_percent", "after_high_percent", "difference_points",
                           "low_points", "high_points", "p_holm", "change", "verdict_before", "verdict_after"}};
    for (const NoiseDiff& noise : diff.noises)
        table.row(noise.noise, noise.stressor, noise.before.value, noise.before.interval.low,
                  noise.before.interval.high, noise.after.value, noise.after.interval.low, noise.after.interval.high,
                  noise.difference.value, noise.difference.interval.low, noise.difference.interval.high, noise.p_holm,
                  change_of(noise), noise.verdict_before, noise.verdict_after);
}

nlohmann::ordered_json json_of(const DiffSide& side)
{
    return {{"directory", side.directory.string()},
            {"runs", std::max<std::size_t>(1, side.runs.size())},
            {"started", side.identity.contains("started") ? side.identity.at("started") : ""},
            {"quiet_step_ms", side.quiet_step_ms},
            {"budget_percent", side.budget_percent}};
}

}  // namespace

std::string answer(const Diff& diff)
{
    std::vector<std::string> parts;
    for (const std::string& word : {change_word::worse, change_word::better})
        for (const NoiseDiff& noise : diff.noises)
            if (change_of(noise) == word) parts.push_back(changed(noise));
    std::vector<std::string> alike;
    for (const NoiseDiff& noise : diff.noises)
        if (change_of(noise) == change_word::alike)
            alike.push_back(join(noise.noise, " (", points(noise.difference.interval), " points)"));
    if (parts.empty()) return "No difference is seen after the change: " + base::join_words(alike, ", ");
    std::string line = "After the change " + base::join_words(parts, "; ");
    if (!alike.empty()) line += "; no difference is seen for " + base::join_words(alike, ", ");
    return line;
}

void print(std::ostream& out, const Diff& diff)
{
    out << answer(diff) << "\n  before: " << said_of(diff.before) << "\n  after:  " << said_of(diff.after) << "\n";
    for (const std::string& limit : diff.limits) out << "  limited: " << limit << "\n";
    DiffRows rows = rows_of(diff);
    for (std::vector<std::string>& row : rows)
        for (std::string& cell : row) cell = base::printable(cell);
    out << "\n" << base::table_text(rows, rows.front().size());
}

void print_markdown(std::ostream& out, const Diff& diff)
{
    DiffRows rows = rows_of(diff);
    for (std::vector<std::string>& row : rows)
        for (std::string& cell : row) cell = plain_markdown(cell);
    const std::vector<std::string> head = rows.front();
    rows.erase(rows.begin());
    out << "## " << plain_markdown(answer(diff)) << "\n\n- before: " << plain_markdown(said_of(diff.before))
        << "\n- after: " << plain_markdown(said_of(diff.after)) << "\n\n"
        << markdown_table(head, rows);
    if (!diff.limits.empty()) out << "\n### What limits this\n\n";
    for (const std::string& limit : diff.limits) out << "- " << plain_markdown(limit) << "\n";
}

nlohmann::ordered_json json_of(const Diff& diff)
{
    using Json = nlohmann::ordered_json;
    Json json{{"format", base::format_version},
              {"answer", answer(diff)},
              {"confidence_percent", diff.confidence_percent},
              {"before", json_of(diff.before)},
              {"after", json_of(diff.after)},
              {"noises", Json::array()},
              {"limits", diff.limits}};
    for (const NoiseDiff& noise : diff.noises)
        json["noises"].push_back({{"noise", noise.noise},
                                  {"stressor", noise.stressor},
                                  {"before_percent", noise.before.value},
                                  {"before_low_percent", noise.before.interval.low},
                                  {"before_high_percent", noise.before.interval.high},
                                  {"after_percent", noise.after.value},
                                  {"after_low_percent", noise.after.interval.low},
                                  {"after_high_percent", noise.after.interval.high},
                                  {"difference_points", noise.difference.value},
                                  {"low_points", noise.difference.interval.low},
                                  {"high_points", noise.difference.interval.high},
                                  {"p_holm", noise.p_holm},
                                  {"method", noise.difference.by_welch ? "welch" : "mover"},
                                  {"change", change_of(noise)},
                                  {"verdict_before", noise.verdict_before},
                                  {"verdict_after", noise.verdict_after}});
    return json;
}

void write_diff(const std::filesystem::path& wanted, const Diff& diff, const nlohmann::ordered_json& own_record)
{
    base::WholeDirectory directory{wanted};
    const std::filesystem::path& folder = directory.path();
    std::ostringstream markdown;
    print_markdown(markdown, diff);
    write_table(folder / "diff.csv", diff);
    base::write_whole(folder / "diff.json", base::json_text(json_of(diff)) + "\n");
    base::write_whole(folder / "diff.md", markdown.str());
    base::write_whole(folder / base::file::run_record, base::json_text(own_record) + "\n");
    directory.finish();
}

}  // namespace analysis
