// SPDX-License-Identifier: Apache-2.0
// Writes the summary of many runs: on the terminal, as Markdown and as JSON.
#include "analysis/report/writers/text.hpp"

#include "analysis/report/summary/summary.hpp"
#include "analysis/results/numbers.hpp"
#include "base/contract/factor_name.hpp"
#include "base/contract/run_record.hpp"
#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace analysis {

namespace {

using base::join;
using TextRows = std::vector<std::vector<std::string>>;

std::string or_dash(const std::string& text)
{
    return text.empty() ? "-" : text;
}

// One row per run, the header first.
TextRows rows_of_runs(const Summary& summary)
{
    const std::vector<std::string> noises = noises_of(summary);
    TextRows rows{{"run", "started", "hosts", "model", "ranks", "trustworthy"}};
    rows.front().insert(rows.front().end(), noises.begin(), noises.end());
    for (const RunSummary& run : summary.runs) {
        std::vector<std::string> row{run.directory.string(), or_dash(run.started), or_dash(run.hosts),
                                     or_dash(run.model),     join(run.ranks),      run.trustworthy ? "yes" : "no"};
        for (const std::string& name : noises) {
            const NoiseInRun* noise = find(run, name);
            row.push_back(noise == nullptr ? "-"
                                           : join(signed_percent(noise->percent), " (", range(noise->interval), ") ",
                                                  noise->verdict));
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

std::string keep_text(const RunSummary& run, const CoresInRun& cores)
{
    if (!cores.keep) return "not shown";
    return join(*cores.keep, " (", cores.at_least, " to ", *cores.keep, " at ", run.budget_percent, " %)");
}

std::string sentence(const Trend& trend)
{
    return join(base::factor_name(trend.factor, trend.level), trend.of.model.empty() ? "" : " beside " + trend.of.model,
                trend.of.hosts.empty() ? "" : " on " + trend.of.hosts, ": ", signed_percent(trend.change), " (",
                range(trend.interval), ") in ", fixed(trend.days, 1), " days, ", counted(trend.runs, "run"));
}

std::string sentence(const NoReport& without)
{
    return join(without.directory.string(), ": ", without.why);
}

}  // namespace

std::vector<std::vector<std::string>> cores_table(const Summary& summary)
{
    TextRows rows;
    for (const RunSummary& run : summary.runs)
        for (const CoresInRun& cores : run.cores)
            rows.push_back({or_dash(run.node_type), or_dash(run.model), join(run.ranks), keep_text(run, cores),
                            join(cores.most), cores.neighbour, run.directory.string()});
    std::sort(rows.begin(), rows.end());
    if (!rows.empty())
        rows.insert(rows.begin(), {"node type", "job", "ranks", "cores to keep", "most measured", "neighbour", "run"});
    return rows;
}

void print(std::ostream& out, const Summary& summary)
{
    TextRows rows = rows_of_runs(summary);
    for (std::vector<std::string>& row : rows)
        for (std::string& cell : row) cell = base::printable(cell);
    out << base::table_text(rows, rows.front().size());
    if (summary.runs.size() > 1 && !summary.weeks.empty()) {
        TextRows map = week_map(summary, 6);
        for (std::vector<std::string>& row : map)
            for (std::string& cell : row) cell = base::printable(cell);
        out << "\nworst verdict of each week:\n" << base::table_text(map, map.front().size());
    }
    if (TextRows cores = cores_table(summary); !cores.empty()) {
        for (std::vector<std::string>& row : cores)
            for (std::string& cell : row) cell = base::printable(cell);
        out << "\ncores of a rank that the job must keep:\n" << base::table_text(cores, cores.front().size());
    }
    if (!summary.trends.empty()) out << "\nchange over time, trustworthy runs:\n";
    for (const Trend& trend : summary.trends) out << "  " << base::printable(sentence(trend)) << "\n";
    if (!summary.without.empty()) out << "\nwithout a report:\n";
    for (const NoReport& without : summary.without) out << "  " << base::printable(sentence(without)) << "\n";
}

void print_markdown(std::ostream& out, const Summary& summary)
{
    TextRows rows = rows_of_runs(summary);
    for (std::vector<std::string>& row : rows)
        for (std::string& cell : row) cell = plain_markdown(cell);
    const std::vector<std::string> head = rows.front();
    rows.erase(rows.begin());
    out << "## " << counted(summary.runs.size(), "run") << "\n\n" << markdown_table(head, rows);
    if (TextRows map = week_map(summary, 12); summary.runs.size() > 1 && !map.empty()) {
        for (std::vector<std::string>& row : map)
            for (std::string& cell : row) cell = plain_markdown(cell);
        const std::vector<std::string> weeks = map.front();
        map.erase(map.begin());
        out << "\n### Worst verdict of each week\n\n" << markdown_table(weeks, map);
    }
    if (TextRows cores = cores_table(summary); !cores.empty()) {
        for (std::vector<std::string>& row : cores)
            for (std::string& cell : row) cell = plain_markdown(cell);
        const std::vector<std::string> columns = cores.front();
        cores.erase(cores.begin());
        out << "\n### Cores of a rank that the job must keep\n\n" << markdown_table(columns, cores);
    }
    if (!summary.trends.empty()) out << "\n### Change over time, trustworthy runs\n\n";
    for (const Trend& trend : summary.trends) out << "- " << plain_markdown(sentence(trend)) << "\n";
    if (!summary.without.empty()) out << "\n### Without a report\n\n";
    for (const NoReport& without : summary.without) out << "- " << plain_markdown(sentence(without)) << "\n";
}

nlohmann::ordered_json json_of(const Summary& summary)
{
    using Json = nlohmann::ordered_json;
    Json json{{"format", base::format_version}, {"runs", Json::array()},  {"trends", Json::array()},
              {"weeks", Json::array()},         {"cores", Json::array()}, {"without_report", Json::array()}};
    for (const RunSummary& run : summary.runs)
        for (const NoiseInRun& noise : run.noises)
            json["runs"].push_back({{"run", run.directory.string()},
                                    {"started", run.started},
                                    {"hosts", run.hosts},
                                    {"model", run.model},
                                    {"data", run.data},
                                    {"strategy", run.strategy},
                                    {"ranks", run.ranks},
                                    {"trustworthy", run.trustworthy},
                                    {"covered", run.covered},
                                    {"quiet_step_ms", run.quiet_step_ms},
                                    {"budget_percent", run.budget_percent},
                                    {"factor", noise.factor},
                                    {"level", noise.level},
                                    {"effect_percent", noise.percent},
                                    {"low_percent", noise.interval.low},
                                    {"high_percent", noise.interval.high},
                                    {"verdict", noise.verdict}});
    for (const Trend& trend : summary.trends)
        json["trends"].push_back({{"hosts", trend.of.hosts},
                                  {"model", trend.of.model},
                                  {"data", trend.of.data},
                                  {"strategy", trend.of.strategy},
                                  {"ranks", trend.of.ranks},
                                  {"factor", trend.factor},
                                  {"level", trend.level},
                                  {"runs", trend.runs},
                                  {"days", trend.days},
                                  {"change_percent", trend.change},
                                  {"low_percent", trend.interval.low},
                                  {"high_percent", trend.interval.high}});
    for (const Week& week : summary.weeks)
        json["weeks"].push_back({{"node_type", week.node_type},
                                 {"hosts", week.hosts},
                                 {"week", week.week},
                                 {"begins", week.begins},
                                 {"runs", week.runs},
                                 {"trustworthy", week.trustworthy},
                                 {"verdict", week.verdict},
                                 {"noise", week.noise},
                                 {"effect_percent", week.percent},
                                 {"low_percent", week.interval.low},
                                 {"high_percent", week.interval.high}});
    for (const RunSummary& run : summary.runs)
        for (const CoresInRun& cores : run.cores)
            json["cores"].push_back({{"run", run.directory.string()},
                                     {"node_type", run.node_type},
                                     {"model", run.model},
                                     {"ranks", run.ranks},
                                     {"budget_percent", run.budget_percent},
                                     {"keep", cores.keep ? Json(*cores.keep) : Json(nullptr)},
                                     {"at_least", cores.at_least},
                                     {"most", cores.most},
                                     {"neighbour", cores.neighbour}});
    for (const NoReport& without : summary.without)
        json["without_report"].push_back({{"directory", without.directory.string()}, {"why", without.why}});
    return json;
}

}  // namespace analysis
