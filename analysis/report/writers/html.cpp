// SPDX-License-Identifier: Apache-2.0
#include "analysis/report/writers/html.hpp"

#include "analysis/conclude/advice.hpp"
#include "analysis/report/writers/html_text.hpp"
#include "analysis/report/writers/node_drawing.hpp"
#include "analysis/report/writers/record_html.hpp"
#include "analysis/results/numbers.hpp"
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

std::string sentence(const Verdict& verdict, const std::vector<Answer>& answers, const std::string& css_class)
{
    std::string text;
    for (const Answer& answer : answers) {
        std::vector<std::string> names;
        for (const std::string& noise : answer.noises) names.push_back(fill("<b>{}</b>", {escape(noise)}));
        text += answer.before + base::join_words(names, ", ") + answer.after + " ";
    }
    if (verdict.observed)
        text = "This noise was not designed, so there is no verdict, only its apparent slowdown.";
    else if (!verdict.trustworthy)
        text = "This run gives no answer. Its numbers, if it were trustworthy: " + text;
    return fill("<p{}>{}</p>\n", {css_class, text});
}

std::string once_more(const std::optional<Again>& run)
{
    if (!run) return "";
    return fill("<details><summary>{}</summary><p>{}</p></details>\n",
                {escape(run->what), base::page::code_to_copy(run->command)});
}

// The advice as HTML, with its commands as code.
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

std::string row_html(const Colours& colours, const FactorVerdict& factor, const std::string& outlook)
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
                {coloured_name(colours, factor.factor, factor.level), signed_percent(factor.percent.value),
                 range(factor.interval), badge(factor.verdict), escape(factor.cause.phase), advice});
}

std::string rows_html(const Colours& colours, const Verdict& verdict, const std::vector<std::string>& outlooks)
{
    std::string rows;
    for (std::size_t i = 0; i < outlooks.size(); ++i) rows += row_html(colours, verdict.factors[i], outlooks[i]);
    if (rows.empty()) return "";
    return fill(R"(<div class="rows"><div class="row heads"><span>Noise</span><span class="value">Slowdown</span>)"
                R"(<span class="interval">{} % interval</span><span>Budget {} %</span><span>Mostly in</span></div>
{}</div>
)",
                {base::join(100.0 * verdict.confidence), base::join(verdict.budget_percent), rows});
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
    const bool hidden = verdict.absorbed && verdict.absorbed->low_percent > 0.0 && verdict.delay->covered_percent > 0.0;
    return fill("<p>The placebo had no effect, {}, and noise covered the training.</p>\n",
                {hidden                        ? "a known delay cost only the part that queued GPU work did not hide"
                 : verdict.insensitive.empty() ? "a known delay was measured correctly"
                                               : "a known delay was not measured precisely, but its true value is not "
                                                 "ruled out (99.9 %)"});
}

std::string trust_title(const Verdict& verdict)
{
    return verdict.trustworthy ? "Why it is trustworthy" : "Why it is not trustworthy";
}

std::string trust_section(const Verdict& verdict, const std::vector<Check>& checks, const Findings& found)
{
    std::string tiles;
    for (const Check& check : checks) tiles += tile(check);
    return fill("{}<div class=\"tiles\">\n{}</div>\n<p class=\"small\">{}</p>\n",
                {why_trusted(verdict), tiles, escape(found.steps_used)});
}

Cell cell(const NoiseTable::Cell& cell)
{
    const char* weight = cell.zero ? "number faint" : cell.strong && !cell.half.empty() ? "number strong" : "number";
    return {base::page::with_half_width(cell.value, cell.half), weight};
}

std::string detail_section(const Colours& colours, const SectionPage& page, const std::string& in_answer,
                           const std::filesystem::path& folder)
{
    std::string html;
    for (const Plot& plot : page.plots)
        if (plot.name != in_answer)
            html += fill("<div{}><h3>{}</h3>\n{}</div>\n",
                         {plot.paper_mm == 0 ? " class=\"screen\"" : "", escape(plot.title), figure(plot, folder)});
    html += noise_table(colours, page.detail.front());
    html += "<div class=\"screen\">\n";
    for (std::size_t t = 1; t < page.detail.size(); ++t) html += noise_table(colours, page.detail[t]);
    return html + "</div>\n";
}

std::string further_section(const Colours& colours, const SectionPage& page)
{
    std::string tables;
    for (const NoiseTable& table : page.below) tables += noise_table(colours, table);
    return plain_list(page.sentences) + fill("<div class=\"screen\">\n{}</div>\n", {tables});
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

std::string coloured_name(const Colours& colours, const std::string& factor, const std::string& level)
{
    if (factor == "quiet") return "<b>quiet</b>";
    std::string dot;
    if (const auto colour = colours.find(factor); colour != colours.end())
        dot = fill(R"html(<span class="dot" style="background:var({})"></span>)html", {colour->second.variable});
    const std::string name = base::factor_name(factor, level);
    const std::size_t line_end = std::min(name.find('['), name.size());  // the level may be on a line of its own
    return fill(R"(<span style="white-space:nowrap">{}<b>{}</b></span><wbr><b>{}</b>)",
                {dot, escape(name.substr(0, line_end)), escape(name.substr(line_end))});
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

std::string answer(const Content& content, const std::string& plot)
{
    const Verdict& verdict = content.report.verdict;
    const Findings& found = content.found;
    const bool of_section = !content.sections.headline.text.empty();
    std::string first = sentence(verdict, found.text.answers, of_section ? "" : " class=\"answer\"");
    std::string more;
    for (const std::string& text : content.sections.answer)
        more += fill("<p{}>{}</p>\n", {of_section && more.empty() ? " class=\"answer\"" : "", escape(text)});
    if (of_section) std::swap(first, more);
    return fill(
        R"({}{}{}{}{}<details><summary>How to read this</summary><p class="small">{}</p>
<p class="small">{}</p></details>
)",
        {first, more, plot, rows_html(content.colours, verdict, found.next.outlooks), once_more(found.next.again),
         escape(found.text.slowdown_note), escape(found.text.scope)});
}

std::string noise_table(const Colours& colours, const NoiseTable& noises)
{
    const bool has_kinds = noises.head.size() > 1 && noises.head[1] == "kind";
    std::vector<std::vector<Cell>> rows;
    for (const NoiseTable::Row& noise : noises.rows) {
        std::vector<Cell> row{{coloured_name(colours, noise.factor, noise.level), ""}};
        if (has_kinds) row.push_back(words(noise.kind, "small"));
        for (const NoiseTable::Cell& each : noise.cells) row.push_back(cell(each));
        rows.push_back(std::move(row));
    }
    return fill(R"(<h3>{}</h3>
{}<p class="small">{}</p>
{})",
                {escape(noises.title), dense(table(noises.head, rows)), escape(noises.note), terms(noises.head)});
}

std::string html(const Content& content, const SectionPage& page, const std::filesystem::path& folder)
{
    const Report& report = content.report;
    const Findings& found = content.found;
    const std::string who = text(found.run);
    const std::string title = trust_title(report.verdict);
    std::vector<Check> checks = found.control_checks;
    checks.insert(checks.end(), found.design_checks.begin(), found.design_checks.end());
    const auto& [asked, asked_plot] = content.sections.headline;
    const std::string headline = asked.empty() ? found.text.headline : asked;
    const std::string in_answer = asked.empty() ? "effects" : asked_plot;
    const auto plot =
        std::find_if(page.plots.begin(), page.plots.end(), [&](const Plot& each) { return each.name == in_answer; });
    std::vector<std::string> files{base::file::verdict};
    for (const Table& table : content.sections.tables) files.push_back(table.file);
    return base::page::html_of({.title = "Crosstalk: " + who,
                                .description = headline,
                                .headline = headline,
                                .subtitle = fill("Noise beside {}<br>{}", {escape(who), escape(found.text.measured)}),
                                .trust = trust(checks),
                                .trust_section = title,
                                .warning = distrust(report.verdict),
                                .answer = answer(content, plot == page.plots.end() ? "" : figure(*plot, folder)),
                                .evidence = {{title, trust_section(report.verdict, checks, found)},
                                             {"What limits this run", plain_list(report.limits)},
                                             {"Who had which CPU", node_drawing(found.nodes)},
                                             {"How much, how long, how sure", further_section(content.colours, page)},
                                             {"In detail", detail_section(content.colours, page, in_answer, folder)},
                                             {"What was run where", run_section(report)},
                                             {"What this report does not say", plain_list(found.not_said)}},
                                .foot = made_by(report.own_record, files)});
}

}  // namespace analysis
