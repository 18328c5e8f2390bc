// SPDX-License-Identifier: Apache-2.0
#include "analysis/report/writers/html.hpp"

#include "analysis/conclude/advice.hpp"
#include "analysis/report/writers/html_text.hpp"
#include "analysis/report/writers/node_drawing.hpp"
#include "analysis/report/writers/text.hpp"
#include "analysis/results/node_placement.hpp"
#include "analysis/results/numbers.hpp"
#include "analysis/results/plots/palette.hpp"
#include "analysis/results/record.hpp"
#include "analysis/sections/harvest/harvest_section.hpp"
#include "base/contract/factor_name.hpp"
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>

namespace analysis {

namespace {

std::string sentence(const Verdict& verdict)
{
    std::string text;
    for (const Answer& answer : answers(verdict)) {
        std::vector<std::string> names;
        for (const std::string& noise : answer.noises) names.push_back(fill("<b>{}</b>", {escape(noise)}));
        text += answer.before + base::join_words(names, ", ") + answer.after + " ";
    }
    if (verdict.observed)
        text = "This noise was not designed, so there is no verdict, only its apparent slowdown.";
    else if (!verdict.trustworthy)
        text = "This run gives no answer. Its numbers, if it were trustworthy: " + text;
    return fill("<p class=\"answer\">{}</p>\n", {text});
}

std::string once_more(const std::optional<Again>& run)
{
    if (!run) return "";
    return fill("<details><summary>{}</summary><p>{}</p></details>\n",
                {escape(run->what), base::page::code_to_copy(run->command)});
}

// Its commands as code.
std::string advice_html(const Advice& advice)
{
    std::string html;
    std::size_t at = 0;
    for (const std::string& command : advice.commands) {
        const std::size_t begin = advice.text.find(command, at);
        html += escape(advice.text.substr(at, begin - at)) + base::page::code_to_copy(command);
        at = begin + command.size();
    }
    return fill("<p>{}</p>\n", {html + escape(advice.text.substr(at))});
}

std::string sentence_case(std::string text)
{
    if (!text.empty()) text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    return text + ".";
}

std::string row_html(const Report& report, const FactorVerdict& factor, const std::string& outlook)
{
    std::string advice;
    if (!factor.cause.sentence.empty()) advice += fill("<p>{}</p>\n", {escape(factor.cause.sentence)});
    if (!outlook.empty()) advice += fill("<p>{}</p>\n", {escape(sentence_case(outlook))});
    if (!factor.setting.text.empty()) advice += advice_html(factor.setting);
    return fill(R"(<details class="row"><summary><span class="who">{}</span><span class="value">{}</span>)"
                R"(<span class="interval">{}</span><span class="verdict">{}</span><span class="where">{}</span>)"
                R"(<span class="more">what to do</span></summary>
<div class="advice">{}</div></details>
)",
                {coloured_name(report, factor.factor, factor.level), signed_percent(factor.percent),
                 range(factor.interval), badge(factor.verdict), escape(factor.cause.phase), advice});
}

std::string rows_html(const Report& report, const std::vector<std::string>& outlooks)
{
    std::string rows;
    for (std::size_t i = 0; i < outlooks.size(); ++i) rows += row_html(report, report.verdict.factors[i], outlooks[i]);
    if (rows.empty()) return "";
    return fill(R"(<div class="rows"><div class="row heads"><span>Noise</span><span class="value">Slowdown</span>)"
                R"(<span class="interval">{} % interval</span><span>Budget {} %</span><span>Mostly in</span></div>
{}</div>
)",
                {base::join(100.0 * report.verdict.confidence), base::join(report.verdict.budget_percent), rows});
}

struct Mark {
    const char* css_class;
    const char* words;
};

Mark mark_of(base::page::Grade grade)
{
    if (grade == base::page::Grade::held) return {"held", "✓"};
    return grade == base::page::Grade::not_held ? Mark{"not-held", "✗"} : Mark{"not-tested", "– not tested"};
}

std::string tile(const Check& check)
{
    const Mark mark = mark_of(check.grade);
    return fill(R"(<div class="tile"><div class="name">{}</div><div class="value">)"
                R"(<span class="mark {}">{}</span> {}</div><div class="small">{}</div></div>
)",
                {escape(check.name), mark.css_class, mark.words, escape(check.value), escape(check.meaning)});
}

std::string why_trusted(const Verdict& verdict)
{
    if (!verdict.trustworthy) return "";
    const bool hidden = verdict.delay && verdict.delay->covered_percent > 0.0 && verdict.delay->true_percent > 0.0 &&
                        absorbed_of(*verdict.delay).low_percent > 0.0;
    return fill("<p>The placebo had no effect, {}, and noise covered the training.</p>\n",
                {hidden                        ? "a known delay cost what queued GPU work did not hide"
                 : verdict.insensitive.empty() ? "a known delay was measured correctly"
                                               : "a known delay was not measured precisely, but its true value is not "
                                                 "ruled out (99.9 %)"});
}

std::string trust_title(const Report& report)
{
    return report.verdict.trustworthy ? "Why it is trustworthy" : "Why it is not trustworthy";
}

std::string trust_section(const Report& report, const std::vector<Check>& all)
{
    std::string tiles;
    for (const Check& check : all) tiles += tile(check);
    return fill("{}<div class=\"tiles\">\n{}</div>\n<p class=\"small\">{}</p>\n",
                {why_trusted(report.verdict), tiles, escape(steps_used(report.analysis))});
}

Cell cell(const NoiseTable::Cell& cell)
{
    const char* weight = cell.zero ? "number faint" : cell.strong && !cell.half.empty() ? "number strong" : "number";
    return {base::page::with_half_width(cell.value, cell.half), weight};
}

// True for the plot that the answer shows; it is not shown again.
bool in_answer(const Plot& plot)
{
    return plot.name == "effects";
}

std::string detail_section(const Report& report, const std::vector<Plot>& plots, const std::filesystem::path& folder)
{
    std::string html;
    for (const Plot& plot : plots)
        if (!in_answer(plot))
            html += fill("<div{}><h3>{}</h3>\n{}</div>\n",
                         {plot.paper_mm == 0 ? " class=\"screen\"" : "", escape(plot.title), figure(plot, folder)});
    const std::vector<NoiseTable> tables = of_sections(&Section::detail, report);
    html += noise_table(report, tables.front());
    html += "<div class=\"screen\">\n";
    for (std::size_t t = 1; t < tables.size(); ++t) html += noise_table(report, tables[t]);
    return html + "</div>\n";
}

std::string further_section(const Report& report)
{
    std::string tables;
    for (const NoiseTable& table : of_sections(&Section::below, report)) tables += noise_table(report, table);
    return plain_list(of_sections(&Section::sentences, report)) + fill("<div class=\"screen\">\n{}</div>\n", {tables});
}

std::string record_html(const Record& record)
{
    const std::string host = word(record.json, "host");
    const std::string title = fill("<h3>{}</h3>\n", {escape(record.what + (host.empty() ? "" : " on " + host))});
    if (!record.json.is_object())
        return title +
               fill("<p class=\"small\">No record was found next to {}.</p>\n", {escape(record.archive.string())});
    std::vector<std::vector<Cell>> levels;
    for (const LevelDone& level : levels_done(record.json))
        levels.push_back({words(base::factor_name(level.factor, level.level)), words(level.stressor),
                          number(level.slots), number(level.moved), number(level.operations)});
    const std::vector<std::string> head{"Noise", "stressor", "times on", "moved while on", "operations while on"};
    return title + facts_table(record.json) + (levels.empty() ? "" : dense(table(head, levels)));
}

std::vector<std::string> files_beside(const Report& report)
{
    std::vector<std::string> names{base::file::verdict};
    for (const Table& table : tables(report)) names.push_back(table.file);
    return names;
}

std::string run_section(const Report& report)
{
    std::string html;
    if (!report.schedule.empty())
        html += fill("<p>Schedule of the noise: <code>{}</code></p>\n", {escape(report.schedule)});
    html += "<div class=\"screen\">\n";
    for (const Record& record : report.records) html += record_html(record);
    html +=
        "</div>\n<p class=\"paper small\">Not on paper, but in index.html: commands, records, the plot of the "
        "phases, more "
        "tables.</p>\n";
    for (const std::string& note : report.notes) html += fill("<p class=\"small\">{}</p>\n", {escape(note)});
    return html;
}

}  // namespace

std::string coloured_name(const Report& report, const std::string& factor, const std::string& level)
{
    if (factor == "quiet") return "<b>quiet</b>";
    const std::vector<std::string> names = factor_names(report.run.plan);
    const auto found = std::find(names.begin(), names.end(), factor);
    std::string dot;
    if (found != names.end())
        dot = fill(R"html(<span class="dot" style="background:var({})"></span>)html",
                   {colours(report.run.plan)[static_cast<std::size_t>(found - names.begin())].variable});
    const std::string name = base::factor_name(factor, level);
    const std::size_t line_end = std::min(name.find('['), name.size());  // if too wide, the level is below
    return fill(R"(<span style="white-space:nowrap">{}<b>{}</b></span><wbr><b>{}</b>)",
                {dot, escape(name.substr(0, line_end)), escape(name.substr(line_end))});
}

std::string facts_table(const nlohmann::ordered_json& record)
{
    std::vector<std::vector<Cell>> rows;
    for (const Fact& fact : facts(record))
        rows.push_back({words(fact.name, "key"), {fill("<code>{}</code>", {escape(fact.value)}), ""}});
    return dense(table({}, rows));
}

std::string plain_list(const std::vector<std::string>& items)
{
    return items.empty() ? "" : fill("<ul class=\"plain\">{}</ul>\n", {list(items)});
}

std::vector<base::page::Trust> trust(const std::vector<Check>& checks)
{
    std::vector<base::page::Trust> cells;
    for (const Check& check : checks) cells.push_back({check.short_name, check.grade, check.name + ": " + check.value});
    return cells;
}

std::string distrust(const Verdict& verdict)
{
    if (verdict.trustworthy) return "";
    if (verdict.observed)
        return base::page::warning("Observed, not designed: no verdict", "What could confound:", verdict.reasons);
    return base::page::warning("✗ Not trustworthy", "Don't act on the numbers below:", verdict.reasons);
}

std::string answer(const Report& report, const Findings& found, const std::string& plot)
{
    const std::string worth = worth_sentence(report);
    return fill(R"({}{}{}{}{}<details><summary>How to read this</summary><p class="small">{}</p>
<p class="small">{}</p></details>
)",
                {sentence(report.verdict), worth.empty() ? "" : fill("<p>{}</p>\n", {escape(worth)}), plot,
                 rows_html(report, found.outlooks), once_more(found.again), escape(slowdown_note(report)),
                 escape(found.scope)});
}

std::string noise_table(const Report& report, const NoiseTable& noises)
{
    const bool has_kinds = noises.head.size() > 1 && noises.head[1] == "kind";
    std::vector<std::vector<Cell>> rows;
    for (const NoiseTable::Row& noise : noises.rows) {
        std::vector<Cell> row{{coloured_name(report, noise.factor, noise.level), ""}};
        if (has_kinds) row.push_back(words(noise.kind, "small"));
        for (const NoiseTable::Cell& each : noise.cells) row.push_back(cell(each));
        rows.push_back(std::move(row));
    }
    return fill(R"(<h3>{}</h3>
{}<p class="small">{}</p>
{})",
                {escape(noises.title), dense(table(noises.head, rows)), escape(noises.note), terms(noises.head)});
}

std::string made_by(const nlohmann::ordered_json& own_record, const std::vector<std::string>& files)
{
    return fill("<p class=\"small\">Made by Crosstalk {} ({}). Beside this page: {}.</p>\n",
                {escape(word(own_record, "version")), escape(word(own_record, "git_revision")), links(files)});
}

std::string html(const Report& report, const Findings& found, const std::vector<Plot>& plots,
                 const std::filesystem::path& folder)
{
    const std::string who = text(found.run);
    const std::vector<Check> all = checks(report);
    const auto effects = std::find_if(plots.begin(), plots.end(), in_answer);
    return base::page::html_of({.title = "Crosstalk: " + who,
                                .description = found.headline,
                                .headline = found.headline,
                                .subtitle = fill("Noise beside {}<br>{}", {escape(who), escape(found.measured)}),
                                .trust = trust(all),
                                .trust_section = trust_title(report),
                                .warning = distrust(report.verdict),
                                .answer = answer(report, found, effects == plots.end() ? "" : figure(*effects, folder)),
                                .evidence = {{trust_title(report), trust_section(report, all)},
                                             {"What limits this run", plain_list(report.limits)},
                                             {"Who had which CPU", node_drawing(node_places(report))},
                                             {"How much, how long, how sure", further_section(report)},
                                             {"In detail", detail_section(report, plots, folder)},
                                             {"What was run where", run_section(report)},
                                             {"What this report does not say", plain_list(not_said(report))}},
                                .foot = made_by(report.own_record, files_beside(report))});
}

}  // namespace analysis
