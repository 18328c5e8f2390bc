// SPDX-License-Identifier: Apache-2.0
// The HTML page of what checkpoints cost, and its plot.
#include "base/page/page.hpp"

#include "analysis/checkpoints/write.hpp"
#include "analysis/report/writers/html_text.hpp"
#include "analysis/report/writers/record_html.hpp"
#include "analysis/results/plots/palette.hpp"
#include "base/contract/run_directory.hpp"
#include "base/csv.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/programs/gnuplot.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace analysis {

namespace {

constexpr const char* cost_gp =
#include "analysis/checkpoints/cost.gp.inc"
    ;

std::string html_of(const CheckpointTable& table)
{
    std::vector<std::vector<Cell>> rows;
    for (const std::vector<std::string>& line : table.rows) {
        std::vector<Cell>& row = rows.emplace_back();
        for (std::size_t c = 0; c < line.size(); ++c) row.push_back(c < table.left ? words(line[c]) : number(line[c]));
    }
    return dense(analysis::table(table.head, rows)) + fill("<p class=\"small\">{}</p>\n", {escape(table.explanation)});
}

std::string page_of(const CheckpointReport& report, const Plot& plot, const std::filesystem::path& folder,
                    const nlohmann::ordered_json& own_record)
{
    std::size_t saves = 0;
    for (const CheckpointGroup& group : report.groups) saves += group.saves;
    std::vector<base::page::Section> evidence;
    for (const CheckpointTable& table : tables_of(report)) evidence.push_back({table.title, html_of(table)});
    evidence.push_back({"Remarks", plain_list(notes_of(report))});
    std::vector<std::string> cut_off;
    for (const CheckpointRun& run : report.runs)
        if (!run.cut_off.empty()) cut_off.push_back(run.cut_off);
    const std::string answer = answer_of(report);
    const std::size_t first_end = answer.find("; ");
    const std::string others = first_end == std::string::npos ? "" : answer.substr(first_end + 2) + "; ";
    const bool any_curve = std::any_of(report.groups.begin(), report.groups.end(),
                                       [](const CheckpointGroup& group) { return group.daly_s.has_value(); });
    return base::page::html_of(
        {.title = "Crosstalk: checkpoints",
         .description = answer,
         .headline = answer.substr(0, first_end),
         .subtitle =
             escape(base::join(others, base::counted(saves, "save"), " of ", base::counted(report.runs.size(), "run"))),
         .warning = cut_off.empty() ? "" : base::page::warning("A table is cut off", "", cut_off),
         .answer = any_curve ? figure(plot, folder) : "<p>No checkpoint cost any time.</p>\n",
         .evidence = evidence,
         .foot = made_by(own_record, {"groups.csv", "saves.csv", "restart_times.csv", "cost.csv"})});
}

}  // namespace

Plot draw_cost(const std::filesystem::path& folder, const CheckpointReport& report)
{
    base::CsvWriter data{
        folder / "cost.csv",
        {"format", "content", "by", "mode", "fsync", "ranks", "noise", "interval_s", "checkpoints_percent",
         "rework_percent", "restarts_percent", "lost_percent", "model", "compress"}};
    std::vector<std::string> settings;  // a panel each
    std::vector<double> first_curve;    // [panel], from 1
    std::vector<double> first_row;      // [curve], of cost.csv, from 0
    std::vector<std::string> names;     // [curve]
    std::vector<std::string> colours;   // [curve]
    std::vector<double> best_min;       // [curve]: Daly's interval, and its cost
    std::vector<double> best_percent;
    double rows = 0.0;
    double high = 0.0;
    std::map<std::string, std::string> colour_of;  // [noise]
    std::map<std::string, std::size_t> shades;
    for (const CheckpointGroup& group : report.groups) {
        const CheckpointSetting& setting = group.setting;
        const std::string name = name_of(setting, report);
        if (!group.daly_s) continue;
        if (settings.empty() || settings.back() != name) {
            settings.push_back(name);
            first_curve.push_back(static_cast<double>(names.size() + 1));
        }
        const std::string family = group.noise.stressor.empty() ? "other" : group.noise.stressor;
        if (!colour_of.contains(group.noise.name))
            colour_of[group.noise.name] = colour(family, shades[family.substr(0, family.find('.'))]++).light;
        first_row.push_back(rows);
        names.push_back(group.noise.name);
        colours.push_back(colour_of[group.noise.name]);
        best_min.push_back(*group.daly_s / 60.0);
        best_percent.push_back(100.0 * lost_shares(*group.daly_s, group.costs).total());
        for (const CostCurvePoint& point : cost_curve(group)) {
            data.row(setting.format, setting.content, setting.by, setting.mode, setting.fsync ? "yes" : "no",
                     setting.ranks, group.noise.name, point.interval_s, 100.0 * point.lost.checkpoints,
                     100.0 * point.lost.rework, 100.0 * point.lost.restarts, 100.0 * point.lost.total(), setting.model,
                     setting.compress);
            high = std::max(high, 100.0 * point.lost.total());
            ++rows;
        }
    }
    first_curve.push_back(static_cast<double>(names.size() + 1));
    first_row.push_back(rows);
    const double longest_min = best_min.empty() ? 1.0 : 8.0 * *std::max_element(best_min.begin(), best_min.end());
    const double shortest_min = best_min.empty() ? 0.1 : *std::min_element(best_min.begin(), best_min.end()) / 8.0;
    base::GnuplotVariables variables;
    variables.set("panels", settings.size());
    variables.set("settings", settings);
    variables.set("first_curve", first_curve);
    variables.set("first_row", first_row);
    variables.set("names", names);
    variables.set("colours", colours);
    variables.set("best", best_min);
    variables.set("best_percent", best_percent);
    variables.set("low", shortest_min);
    variables.set("longest", longest_min);
    variables.set("high", high);
    return for_people(folder,
                      {.name = "cost",
                       .title = "Expected cost of checkpoints and failures",
                       .caption = "Lines: expected share of time lost to checkpoints, rework and restarts. "
                                  "Dots: Daly's interval.",
                       .drawn = !names.empty() && base::draw("interference", folder, "cost", variables, cost_gp),
                       .paper_mm = 120,
                       .data = {"cost.csv"}});
}

void write_checkpoints(const std::filesystem::path& wanted, const CheckpointReport& report,
                       const nlohmann::ordered_json& own_record)
{
    base::WholeDirectory directory{wanted};
    const std::filesystem::path& folder = directory.path();
    write_tables(folder, report);
    const Plot plot = draw_cost(folder, report);
    base::write_whole(folder / base::file::run_record, base::json_text(own_record) + "\n");
    base::write_whole(folder / "index.html", page_of(report, plot, folder, own_record));
    directory.finish();
}

}  // namespace analysis
