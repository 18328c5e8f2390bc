// SPDX-License-Identifier: Apache-2.0
#include "analysis/report/writers/html_text.hpp"

#include "analysis/metrics/metric.hpp"
#include "analysis/report/writers/html_script.hpp"
#include "analysis/report/writers/html_style.hpp"
#include "analysis/results/plots/palette.hpp"
#include "base/markup.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>

namespace analysis {

namespace {

std::string explanation(std::string_view word)
{
    const MetricCard* card = metric_called(word);
    return card == nullptr ? "" : fill(R"( title="{} {}")", {escape(card->summary), escape(card->reading)});
}

}  // namespace

std::string escape(std::string_view text)
{
    return base::escape_markup(text);
}

std::string fill(std::string_view form, std::initializer_list<std::string_view> parts)
{
    std::string html;
    for (const std::string_view part : parts) {
        const std::size_t gap = form.find("{}");
        html += form.substr(0, gap);
        html += part;
        form.remove_prefix(gap + 2);
    }
    return html.append(form);
}

Cell words(std::string_view text, std::string css_class)
{
    return {escape(text), std::move(css_class)};
}

Cell number(std::string_view text)
{
    return {escape(text), "number"};
}

std::string table(const std::vector<std::string>& head, const std::vector<std::vector<Cell>>& rows)
{
    std::string html = "<div class=\"scroll\"><table>";
    if (!head.empty()) html += "<thead><tr>";
    for (std::size_t c = 0; c < head.size(); ++c) {
        const bool right = !rows.empty() && c < rows.front().size() && rows.front()[c].css_class.starts_with("number");
        html += fill("<th{}{}>{}</th>", {right ? " class=\"number\"" : "", explanation(head[c]), escape(head[c])});
    }
    html += std::string{head.empty() ? "" : "</tr></thead>"} + "<tbody>\n";
    for (const std::vector<Cell>& row : rows) {
        html += "<tr>";
        for (std::size_t c = 0; c < row.size(); ++c) {
            html += "<td";
            if (!row[c].css_class.empty()) html += " class=\"" + row[c].css_class + "\"";
            // A narrow screen shows a row's cells below one another, each beside its title.
            if (c < head.size() && !head[c].empty()) html += " data-title=\"" + escape(head[c]) + "\"";
            html += ">" + row[c].html + "</td>";
        }
        html += "</tr>\n";
    }
    return html + "</tbody></table></div>\n";
}

std::string links(const std::vector<std::string>& files)
{
    std::string html;
    for (const std::string& file : files)
        html += fill(R"({}<a href="{}">{}</a>)", {html.empty() ? "" : ", ", escape(file), escape(file)});
    return html;
}

std::string dense(std::string_view table)
{
    return fill("<div class=\"dense\">{}</div>\n", {table});
}

std::string url_path(const std::filesystem::path& path)
{
    std::string url;
    for (const char c : path.string()) {
        const auto byte = static_cast<unsigned char>(c);
        const bool plain =
            byte < 0x80 && (std::isalnum(byte) != 0 || std::string_view{"/-_.~"}.find(c) != std::string_view::npos);
        char escaped[4];
        std::snprintf(escaped, sizeof escaped, "%%%02X", static_cast<unsigned>(byte));
        url += plain ? std::string{c} : std::string{escaped};
    }
    return url;
}

std::string terms(const std::vector<std::string>& words)
{
    std::vector<const MetricCard*> explained;
    std::string html;
    for (const std::string& word : words) {
        const MetricCard* card = metric_called(word);
        if (card == nullptr || std::count(explained.begin(), explained.end(), card) > 0) continue;
        explained.push_back(card);
        html += fill("<dt>{}</dt><dd>{} {}</dd>\n", {escape(card->title.empty() ? card->name : card->title),
                                                     escape(card->summary), escape(card->reading)});
    }
    if (html.empty()) return "";
    return fill("<details class=\"screen\"><summary>What these words mean</summary>\n<dl>{}</dl></details>\n", {html});
}

std::string typeset(std::string_view html)
{
    constexpr std::string_view before = " (>\n";
    constexpr std::string_view of_option = "-abcdefghijklmnopqrstuvwxyz";
    const auto ends_code = [&](std::size_t at) {
        return html.substr(at).starts_with("</code") || html.substr(at).starts_with("</svg");
    };
    const auto begins_code = [&](std::size_t at) {
        return html.substr(at).starts_with("<code") || html.substr(at).starts_with("<svg");
    };
    std::string set;
    bool in_tag = false;
    bool in_code = false;
    for (std::size_t i = 0; i < html.size(); ++i) {
        const char c = html[i];
        if (c == '<') {
            in_tag = true;
            in_code = (in_code || begins_code(i)) && !ends_code(i);
        }
        const bool begins_word = !in_tag && !in_code && (i == 0 || before.find(html[i - 1]) != std::string_view::npos);
        const char next = i + 1 < html.size() ? html[i + 1] : '\0';
        const bool negative = begins_word && c == '-' && next >= '0' && next <= '9';
        if (begins_word && c == '-' && next == '-') {
            const std::string_view option = html.substr(i, html.find_first_not_of(of_option, i) - i);
            set += fill(R"(<span class="option">{}</span>)", {option});
            i += option.size() - 1;
            continue;
        }
        if (c == '>') in_tag = false;
        const bool of_number = c == ' ' && !in_tag && !in_code && html.substr(i).starts_with(" %") && i > 0 &&
                               html[i - 1] >= '0' && html[i - 1] <= '9';
        if (negative)
            set += "\u2212";
        else if (of_number)
            set += "\u00a0";
        else
            set += c;
    }
    return set;
}

std::string page(std::string_view title, std::string_view description, std::string_view body)
{
    return fill(R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">)"
                R"(<title>{}</title>
<meta name="description" content="{}">
<style>{}</style></head>
<body><main>
{}</main>
<script>{}</script></body></html>
)",
                {title, description, palette_css() + html_style, typeset(body), html_script});
}

}  // namespace analysis
