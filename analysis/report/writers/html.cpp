// SPDX-License-Identifier: Apache-2.0
#include "analysis/report/writers/html.hpp"

#include "analysis/report/writers/html_text.hpp"
#include "analysis/report/writers/node_drawing.hpp"
#include "analysis/report/writers/text.hpp"
#include "analysis/results/findings.hpp"
#include "analysis/results/identity.hpp"
#include "analysis/results/next_run.hpp"
#include "analysis/results/node_placement.hpp"
#include "analysis/results/numbers.hpp"
#include "analysis/results/plots/palette.hpp"
#include "analysis/results/record.hpp"
#include "analysis/results/verdict_text.hpp"
#include "base/contract/factor_name.hpp"
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace analysis {

namespace {

std::string answer(const Verdict& verdict)
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

std::string once_more(const Report& report)
{
    const std::optional<Again> run = again(report);
    if (!run) return "";
    return fill(
        R"(<p class="again"><b>{}:</b> <code>{}</code></p>
)",
        {escape(run->what), escape(run->command)});
}

std::string tile(const Check& check)
{
    return fill(
        R"(<div class="tile"><div class="name">{}</div><div class="value">)"
        R"(<span class="mark-{}</span> {}</div><div class="small">{}</div></div>
)",
        {escape(check.name), check.holds ? R"(good">✓)" : R"(bad">✗)", escape(check.value), escape(check.meaning)});
}

std::string trust_section(const Report& report)
{
    std::string tiles;
    for (const Check& check : checks(report)) tiles += tile(check);
    return fill(
        R"(<section><h2>Why it is {}</h2>
<div class="tiles">
{}</div>
<p class="small" style="margin-top:12px">{}</p></section>
)",
        {report.verdict.trustworthy ? "trustworthy" : "not trustworthy", tiles, escape(steps_used(report.analysis))});
}

// "1.23 ± 0.37"
Cell cell(const NoiseTable::Cell& cell)
{
    const std::string half = cell.half.empty() ? "" : fill(R"( <span class="half">± {}</span>)", {cell.half});
    const char* weight = cell.zero ? "number faint" : cell.strong && !cell.half.empty() ? "number strong" : "number";
    return {escape(cell.value) + half, weight};
}

std::string detail_section(const Report& report, const std::vector<Plot>& plots, const std::filesystem::path& folder)
{
    std::string html;
    for (const Plot& plot : plots)
        html += fill("<div{}><h3>{}</h3>\n{}</div>\n",
                     {plot.paper_mm == 0 ? " class=\"screen\"" : "", escape(plot.title), figure(plot, folder)});
    const std::vector<NoiseTable> tables = of_sections(&Section::detail, report);
    html += noise_table(report, tables.front());
    html += "<div class=\"screen\">\n";
    for (std::size_t t = 1; t < tables.size(); ++t) html += noise_table(report, tables[t]);
    html += "</div>\n";
    return fill("<section><h2>In detail</h2>\n{}</section>\n", {html});
}

std::string further_section(const Report& report)
{
    std::string tables;
    for (const NoiseTable& table : of_sections(&Section::below, report)) tables += noise_table(report, table);
    return fill(R"(<section><h2>How much, how long, how sure</h2>
<ul class="plain">{}</ul>
<div class="screen">
{}</div></section>
)",
                {list(of_sections(&Section::sentences, report)), tables});
}

std::string record_html(const Record& record)
{
    const std::string host = word(record.json, "host");
    const std::string title = fill("<h3>{}</h3>\n", {escape(record.what + (host.empty() ? "" : " on " + host))});
    if (!record.json.is_object())
        return title +
               fill("<p class=\"small\">No record was found beside {}.</p>\n", {escape(record.archive.string())});
    std::vector<std::vector<Cell>> levels;
    for (const LevelDone& level : levels_done(record.json))
        levels.push_back({words(base::factor_name(level.factor, level.level)), words(level.stressor),
                          number(level.slots), number(level.moved), number(level.operations)});
    const std::vector<std::string> head{"Noise", "stressor", "times on", "moved while on", "operations while on"};
    return title + facts_table(record.json) + (levels.empty() ? "" : dense(table(head, levels)));
}

std::string links_to_tables(const Report& report)
{
    std::vector<std::string> names{base::file::verdict};
    for (const Table& table : tables(report)) names.push_back(table.file);
    return links(names);
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
    return fill("<section><h2>What was run where</h2>\n{}</section>\n", {html});
}

constexpr std::string_view page_form = R"(<h1>{}</h1>
<p class="sub">Noise beside {}<br>{}</p>
{}{}{}{}{}{}{}{}{}<section><h2>What this report does not say</h2>
<ul class="plain">{}</ul></section>
<p class="small">Made by Crosstalk {} ({}). Beside this page: {}.</p>
)";

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
    const std::size_t line_end = std::min(name.find('['), name.size());  // where space is short the level stands below
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

std::string list(const std::vector<std::string>& items)
{
    std::string html;
    for (const std::string& item : items) html += fill("<li>{}</li>", {escape(item)});
    return html;
}

std::string banner(const Verdict& verdict)
{
    const bool hidden = verdict.delay && verdict.delay->covered_percent > 0.0 && verdict.delay->true_percent > 0.0 &&
                        absorbed_of(*verdict.delay).low_percent > 0.0;
    if (verdict.trustworthy)
        return fill(
            R"(<div class="banner good"><h2>✓ Trustworthy</h2>Doing nothing measured as nothing, a known delay
{}, and the noise was there when it should be.</div>
)",
            {hidden                        ? "cost what work queued on GPUs did not hide"
             : verdict.insensitive.empty() ? "measured as what it was"
                                           : "measured as what it was or as nothing, for this run is not sensitive"});
    if (verdict.observed)
        return fill(
            R"(<div class="banner bad"><h2>Observed, not designed: no verdict</h2>What could confound:<ul>{}</ul></div>
)",
            {list(verdict.reasons)});
    return fill(R"(<div class="banner bad"><h2>✗ Not trustworthy</h2>Don't act on the numbers below:<ul>{}</ul></div>
)",
                {list(verdict.reasons)});
}

std::string verdict_section(const Report& report, const std::string& scope)
{
    std::vector<std::vector<Cell>> rows;
    for (const FactorVerdict& factor : report.verdict.factors) {
        std::string state = fill(R"(<span class="badge {}">{}</span>)", {factor.verdict, factor.verdict});
        if (is_open(factor)) state += fill(R"(<div class="small outlook">{}</div>)", {escape(outlook(report, factor))});
        const std::string slowdown = fill(R"(<span class="big">{}</span><div class="small">{}</div>)",
                                          {signed_percent(factor.percent), range(factor.interval)});
        rows.push_back({{coloured_name(report, factor.factor, factor.level), ""},
                        {slowdown, "number"},
                        {state, ""},
                        words(factor.cause.sentence, "wide"),
                        words(factor.setting, "wide")});
    }
    const std::string budget = base::join("Budget ", report.verdict.budget_percent, " %");
    return fill(R"(<section class="verdicts"><h2>What may run beside this training</h2>
{}{}{}<p class="small">{}</p>
<p class="small">{}</p></section>
)",
                {answer(report.verdict),
                 table({"Noise", "Slowdown of a step", budget, "Where it comes from", "Setting to act on"}, rows),
                 once_more(report), escape(slowdown_note(report)), escape(scope)});
}

std::string limits_box(const Report& report)
{
    if (report.limits.empty()) return "";
    std::string html = "<section><h2>What limits this run</h2>\n<ul class=\"plain\">";
    for (const std::string& limit : report.limits) html += "<li>" + escape(limit) + "</li>\n";
    return html + "</ul></section>\n";
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

std::string figure(const Plot& plot, const std::filesystem::path& folder)
{
    std::string drawing;
    if (plot.drawn) {
        const std::string svg = base::read_whole(folder / (plot.name + ".svg"));
        drawing = with_variables(svg.substr(std::min(svg.find("<svg"), svg.size())));  // without its prolog
    } else {
        drawing = fill(R"(<p class="small">Not drawn by gnuplot. {}.gp is ready for it.</p>)", {escape(plot.name)});
    }
    std::vector<std::string> files = plot.data;
    files.push_back(plot.name + ".gp");
    if (plot.drawn) files.push_back(plot.name + ".svg");
    return fill(
        R"(<figure style="--paper:{}mm">{}<figcaption>{} <span class="screen">Data, script and drawing: {}.</span>)"
        R"(</figcaption></figure>)",
        {base::join(plot.paper_mm), drawing, escape(plot.caption), links(files)});
}

std::string html(const Report& report, const std::vector<Plot>& plots, const std::filesystem::path& folder)
{
    const std::string who = escape(text(identity(report)));
    const std::string trust = banner(report.verdict);
    const bool trusted = report.verdict.trustworthy;
    const std::string answered = escape(headline(report));
    return page("Crosstalk: " + who, answered,
                fill(page_form, {answered, who, escape(measured(report)), trusted ? "" : trust,
                                 verdict_section(report, scope(report)), trusted ? trust : "", limits_box(report),
                                 node_drawing(node_places(report)), trust_section(report), further_section(report),
                                 detail_section(report, plots, folder), run_section(report), list(not_said(report)),
                                 escape(word(report.own_record, "version")),
                                 escape(word(report.own_record, "git_revision")), links_to_tables(report)}));
}

}  // namespace analysis
