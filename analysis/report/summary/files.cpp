// SPDX-License-Identifier: Apache-2.0
// Writes the files of a summary of many runs: tables, plot and page.
#include "base/files.hpp"

#include "analysis/report/summary/summary.hpp"
#include "analysis/report/writers/html_text.hpp"
#include "analysis/report/writers/record_html.hpp"
#include "analysis/results/numbers.hpp"
#include "analysis/results/plots/palette.hpp"
#include "analysis/results/record.hpp"
#include "base/contract/factor_name.hpp"
#include "base/contract/run_directory.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/programs/gnuplot.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace analysis {

namespace {

namespace fs = std::filesystem;
using base::join;

constexpr const char* trend_gp =
#include "analysis/report/summary/trend.gp.inc"
    ;

constexpr std::size_t most_panels = 12;

void write_summary_table(const fs::path& file, const Summary& summary)
{
    base::CsvWriter table{
        file,
        {"run", "started", "hosts", "model", "data", "strategy", "ranks", "trustworthy", "covered", "quiet_step_ms",
         "budget_percent", "factor", "level", "effect_percent", "low_percent", "high_percent", "verdict"}};
    for (const RunSummary& run : summary.runs)
        for (const NoiseInRun& noise : run.noises)
            table.row(run.directory.string(), run.started, run.hosts, run.model, run.data, run.strategy, run.ranks,
                      run.trustworthy ? 1 : 0, run.covered ? 1 : 0, run.quiet_step_ms, run.budget_percent, noise.factor,
                      noise.level, noise.percent, noise.interval.low, noise.interval.high, noise.verdict);
}

void write_trends(const fs::path& file, const Summary& summary)
{
    base::CsvWriter table{file,
                          {"hosts", "model", "data", "strategy", "ranks", "factor", "level", "runs", "days",
                           "change_percent", "low_percent", "high_percent"}};
    for (const Trend& trend : summary.trends)
        table.row(trend.of.hosts, trend.of.model, trend.of.data, trend.of.strategy, trend.of.ranks, trend.factor,
                  trend.level, trend.runs, trend.days, trend.change, trend.interval.low, trend.interval.high);
}

void write_weeks(const fs::path& file, const Summary& summary)
{
    base::CsvWriter table{file,
                          {"node_type", "hosts", "week", "begins", "runs", "trustworthy", "verdict", "noise",
                           "effect_percent", "low_percent", "high_percent"}};
    for (const Week& week : summary.weeks)
        table.row(week.node_type, week.hosts, week.week, week.begins, week.runs, week.trustworthy, week.verdict,
                  week.noise, week.percent, week.interval.low, week.interval.high);
}

void write_cores_to_keep(const fs::path& file, const Summary& summary)
{
    base::CsvWriter table{file,
                          {"node_type", "hosts", "model", "data", "strategy", "ranks", "run", "started",
                           "budget_percent", "keep", "at_least", "most", "neighbour"}};
    for (const RunSummary& run : summary.runs)
        for (const CoresInRun& cores : run.cores)
            table.row(run.node_type, run.hosts, run.model, run.data, run.strategy, run.ranks, run.directory.string(),
                      run.started, run.budget_percent, cores.keep ? join(*cores.keep) : std::string{}, cores.at_least,
                      cores.most, cores.neighbour);
}

std::string stressor_of(const Summary& summary, const std::string& noise)
{
    for (const RunSummary& run : summary.runs)
        if (const NoiseInRun* found = find(run, noise)) return found->stressor;
    return "";
}

Plot draw_trend(const fs::path& folder, const Summary& summary)
{
    std::vector<std::string> noises = noises_of(summary);
    noises.resize(std::min(noises.size(), most_panels));
    base::CsvWriter data{
        folder / "trend_plot.csv",
        {"panel", "started_s", "effect_percent", "low_percent", "high_percent", "trustworthy", "noise", "started"}};
    std::vector<std::string> light;
    std::map<std::string, std::size_t> of_family;
    double low = -0.5 * summary.runs.back().budget_percent;
    double high = 1.5 * summary.runs.back().budget_percent;
    for (std::size_t n = 0; n < noises.size(); ++n) {
        const std::string stressor = stressor_of(summary, noises[n]);
        light.push_back(colour(stressor, of_family[stressor.substr(0, stressor.find('.'))]++).light);
        for (const RunSummary& run : summary.runs) {
            const NoiseInRun* noise = find(run, noises[n]);
            if (noise == nullptr || !run.started_s) continue;
            low = std::min(low, noise->interval.low);
            high = std::max(high, noise->interval.high);
            data.row(n, *run.started_s, fixed(noise->percent, 5), fixed(noise->interval.low, 5),
                     fixed(noise->interval.high, 5), run.trustworthy ? 1 : 0, noises[n], run.started);
        }
    }
    const std::int64_t first = summary.runs.front().started_s.value_or(0);
    std::int64_t last = first;
    for (const RunSummary& run : summary.runs) last = std::max(last, run.started_s.value_or(first));
    base::GnuplotVariables variables;
    variables.set("noises", noises.size());
    variables.set("names", noises);
    variables.set("colours", light);
    variables.set("first", first);
    variables.set("span", last - first);
    variables.set("budget", summary.runs.back().budget_percent);
    variables.set("low", low);
    variables.set("high", high);
    return for_people(folder,
                      {"trend",
                       "Each noise over time",
                       "A dot is the slowdown in a run, a line its interval; an empty grey circle: a run that is not "
                       "trustworthy. Dashed: the budget.",
                       base::draw("interference", folder, "trend", variables, trend_gp),
                       120,
                       {"trend_plot.csv"}});
}

Cell cell_of(const NoiseInRun* noise)
{
    if (noise == nullptr) return {"–", "number"};
    return {fill(R"({}<br><span class="small">{}</span><br>{})",
                 {signed_percent(noise->percent), range(noise->interval), badge(noise->verdict)}),
            "number"};
}

// A start as "2026-11-21 05:44".
std::string to_the_minute(const std::string& started)
{
    std::string text = started.substr(0, std::string{"2026-11-21T05:44"}.size());
    std::replace(text.begin(), text.end(), 'T', ' ');
    return text;
}

Cell cell_of_run(const RunSummary& run, const fs::path& page_folder)
{
    const std::string name = escape(run.directory.string());
    const fs::path page = run.report / "index.html";
    const std::string link =
        fs::exists(page) ? fill(R"(<a href="{}">{}</a>)", {base::page::url_path(fs::relative(page, page_folder)), name})
                         : name;
    std::vector<std::string> who{run.model, run.strategy, counted(run.ranks, "rank"), run.hosts};
    std::erase(who, "");
    return {fill(R"(<span class="name">{}<br><span class="small">{}</span></span>)",
                 {link, escape(base::join_words(who, ", "))}),
            ""};
}

// Tables of runs, each with as many noises as fit on the page. The first one also has each run's start and trust.
std::string tables_of_runs(const Summary& summary, const fs::path& page_folder)
{
    constexpr std::size_t most_noises = 5;
    const std::vector<std::string> noises = noises_of(summary);
    std::string tables;
    for (std::size_t from = 0; from == 0 || from < noises.size(); from += most_noises) {
        const std::size_t until = std::min(noises.size(), from + most_noises);
        std::vector<std::string> head{"Run"};
        if (from == 0) head.insert(head.end(), {"started", "trustworthy", "quiet step, ms"});
        for (std::size_t n = from; n < until; ++n) head.push_back(noises[n]);
        std::vector<std::vector<Cell>> rows;
        for (const RunSummary& run : summary.runs) {
            std::vector<Cell>& row = rows.emplace_back();
            row.push_back(cell_of_run(run, page_folder));
            if (from == 0)
                row.insert(row.end(), {words(to_the_minute(run.started)), words(run.trustworthy ? "yes" : "no"),
                                       number(fixed(run.quiet_step_ms, 2))});
            for (std::size_t n = from; n < until; ++n) row.push_back(cell_of(find(run, noises[n])));
        }
        tables += dense(table(head, rows));
    }
    return tables;
}

std::string trends_table(const Summary& summary)
{
    std::vector<std::vector<Cell>> rows;
    for (const Trend& trend : summary.trends)
        rows.push_back({words(base::factor_name(trend.factor, trend.level)), words(trend.of.model),
                        words(trend.of.hosts), number(join(trend.runs)), number(fixed(trend.days, 1)),
                        number(signed_percent(trend.change)), number(range(trend.interval))});
    const std::string found =
        rows.empty() ? "<p>No trend: this needs three trustworthy runs of one training.</p>\n"
                     : dense(table({"Noise", "model", "hosts", "runs", "days", "change", "95 % interval"}, rows));
    return found +
           R"(<p class="small">Change: by how many percentage points the slowdown changed from the first run to the last,
on a straight line through the trustworthy runs of one training; the run is the unit.</p>)";
}

// Formats "unsafe: mem" as a badge with the noise below it.
Cell cell_of_week(const std::string& text)
{
    if (text == "-") return {"–", ""};
    const std::string verdict = text.substr(0, text.find(": "));
    const std::string noise = verdict.size() == text.size() ? "" : text.substr(verdict.size() + 2);
    const std::string below = noise.empty() ? "" : fill(R"(<div class="small">{}</div>)", {escape(noise)});
    return {fill(R"(<div>{}{}</div>)", {badge(verdict), below}), ""};
}

std::string weeks_table(const Summary& summary)
{
    constexpr std::size_t most_weeks = 8;  // fits on the page
    const std::vector<std::vector<std::string>> map = week_map(summary, most_weeks);
    if (map.empty()) return "";
    std::vector<std::vector<Cell>> rows;
    for (auto line = map.begin() + 1; line != map.end(); ++line) {
        std::vector<Cell>& row = rows.emplace_back();
        row.push_back(words((*line)[0]));
        row.push_back(words((*line)[1]));
        for (auto cell = line->begin() + 2; cell != line->end(); ++cell) row.push_back(cell_of_week(*cell));
    }
    return dense(table(map.front(), rows)) +
           R"(<p class="small">The worst verdict of the week's runs on these hosts, and the noise that has it; untrusted:
one of the runs was not trustworthy. Weeks as of ISO 8601, by the start of the run in UTC. All weeks are in
weeks.csv.</p>)";
}

std::string cores_to_keep(const Summary& summary)
{
    const std::vector<std::vector<std::string>> lines = cores_table(summary);
    if (lines.empty()) return "";
    std::vector<std::vector<Cell>> rows;
    for (auto line = lines.begin() + 1; line != lines.end(); ++line) {
        std::vector<Cell>& row = rows.emplace_back();
        for (const std::string& cell : *line) row.push_back(words(cell));
    }
    return dense(table(lines.front(), rows)) +
           R"(<p class="small">How many physical cores each rank must keep, as far as numbers of cores were measured;
settings are in each run's report.</p>)";
}

std::string without_report(const Summary& summary)
{
    std::vector<std::string> items;
    for (const NoReport& without : summary.without)
        items.push_back(join(without.directory.string(), ": ", without.why));
    return plain_list(items);
}

std::string page_of(const Summary& summary, const Plot& plot, const fs::path& folder, const fs::path& page_folder,
                    const nlohmann::ordered_json& own_record)
{
    const auto trusted = static_cast<std::size_t>(
        std::count_if(summary.runs.begin(), summary.runs.end(), [](const RunSummary& run) { return run.trustworthy; }));
    const std::string title = join(counted(summary.runs.size(), "run"), ", ", trusted, " trustworthy");
    return base::page::html_of(
        {.title = "Crosstalk: " + title,
         .description = title,
         .headline = title,
         .subtitle = "Slowdown of a step under each noise, in percent of its quiet step",
         .answer = figure(plot, folder),
         .evidence = {{"The runs", tables_of_runs(summary, page_folder) + terms({"slowdown", "interval"})},
                      {"Cores of a rank that the job must keep", cores_to_keep(summary)},
                      {"Nodes by week", weeks_table(summary)},
                      {"Over time", trends_table(summary)},
                      {"Without a report", without_report(summary)}},
         .foot = made_by(own_record, {"summary.csv", "trends.csv", "weeks.csv", base::file::cores})});
}

}  // namespace

void write_summary(const fs::path& wanted, const Summary& summary, const nlohmann::ordered_json& own_record)
{
    base::WholeDirectory directory{wanted};
    const fs::path& folder = directory.path();
    write_summary_table(folder / "summary.csv", summary);
    write_trends(folder / "trends.csv", summary);
    write_weeks(folder / "weeks.csv", summary);
    write_cores_to_keep(folder / base::file::cores, summary);
    const Plot plot = draw_trend(folder, summary);
    base::write_whole(folder / base::file::run_record, base::json_text(own_record) + "\n");
    base::write_whole(folder / "index.html", page_of(summary, plot, folder, fs::absolute(wanted), own_record));
    directory.finish();
}

}  // namespace analysis
