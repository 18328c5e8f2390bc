// SPDX-License-Identifier: Apache-2.0
#include "base/page/parts.hpp"

#include "base/markup.hpp"

#include <cctype>
#include <cstdio>

namespace base::page {

std::string escape(std::string_view text)
{
    return escape_markup(text);
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

std::string with_half_width(std::string_view value, std::string_view half)
{
    return half.empty() ? std::string{value} : fill(R"({} <span class="half">± {}</span>)", {value, half});
}

std::string plain_table(const std::vector<std::string>& head, const std::vector<std::vector<Cell>>& rows,
                        Explanation explanation)
{
    std::string html = "<div class=\"scroll\"><table>";
    if (!head.empty()) html += "<thead><tr>";
    for (std::size_t c = 0; c < head.size(); ++c) {
        const bool right = !rows.empty() && c < rows.front().size() && rows.front()[c].css_class.starts_with("number");
        const std::string about = explanation == nullptr ? "" : explanation(head[c]);
        html += fill("<th{}{}>{}</th>", {right ? " class=\"number\"" : "",
                                         about.empty() ? "" : fill(" title=\"{}\"", {escape(about)}), escape(head[c])});
    }
    html += std::string{head.empty() ? "" : "</tr></thead>"} + "<tbody>\n";
    for (const std::vector<Cell>& row : rows) {
        html += "<tr>";
        for (std::size_t c = 0; c < row.size(); ++c) {
            html += "<td";
            if (!row[c].css_class.empty()) html += " class=\"" + row[c].css_class + "\"";
            if (c < head.size() && !head[c].empty()) html += " data-title=\"" + escape(head[c]) + "\"";
            // The content must be a single child: the narrow layout places a cell's children apart from one another.
            html += row[c].html.empty() ? "></td>" : "><span>" + row[c].html + "</span></td>";
        }
        html += "</tr>\n";
    }
    return html + "</tbody></table></div>\n";
}

std::string list(const std::vector<std::string>& items)
{
    std::string html;
    for (const std::string& item : items) html += fill("<li>{}</li>", {escape(item)});
    return html;
}

std::string badge(std::string_view verdict)
{
    return fill(R"(<span class="badge {}">{}</span>)", {escape(verdict), escape(verdict)});
}

std::string code_to_copy(std::string_view code)
{
    return fill(R"(<code class="copy">{}</code>)", {escape(code)});
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

}  // namespace base::page
