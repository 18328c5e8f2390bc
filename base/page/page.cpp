// SPDX-License-Identifier: Apache-2.0
#include "base/page/page.hpp"

#include "base/page/palette.hpp"
#include "base/page/parts.hpp"

#include <array>
#include <cctype>

namespace base::page {

namespace {

constexpr const char* style =
#include "base/page/page.css.inc"
    ;
constexpr const char* script =
#include "base/page/page.js.inc"
    ;

struct Cells {
    const char* css_class;
    const char* words;
};

Cells cells_of(Grade grade)
{
    constexpr std::array<Cells, 3> cells{
        {{"held", "✓ held"}, {"not-held", "✗ not held"}, {"not-tested", "– not tested"}}};
    return cells.at(static_cast<std::size_t>(grade));
}

std::string strip_of(const Page& page)
{
    if (page.trust.empty()) return "";
    std::string cells;
    for (const Trust& one : page.trust) {
        const Cells cell = cells_of(one.grade);
        const std::string inside =
            fill(R"(<span class="what">{}</span> <span class="grade">{}</span>)", {escape(one.name), cell.words});
        cells += fill(R"(<li class="{}" title="{}">)", {cell.css_class, escape(one.value)}) +
                 (page.trust_section.empty() ? inside
                                             : fill(R"(<a href="{}">{}</a>)", {anchor(page.trust_section), inside})) +
                 "</li>\n";
    }
    return fill("<ul class=\"strip\" aria-label=\"Controls and checks\">\n{}</ul>\n", {cells});
}

std::string contents_of(const std::vector<Section>& sections)
{
    std::string items = R"(<li><a href="#answer">Answer</a></li>)";
    for (const Section& section : sections)
        if (!section.html.empty())
            items += fill(R"(<li><a href="{}">{}</a></li>)", {anchor(section.title), escape(section.title)});
    return fill("<nav class=\"contents\" aria-label=\"Contents\"><ul>{}</ul></nav>\n", {items});
}

std::string evidence_of(const std::vector<Section>& sections)
{
    std::string all;
    for (const Section& section : sections) {
        if (section.html.empty()) continue;
        all += fill("<section id=\"{}\"{}><h2>{}</h2>\n{}</section>\n",
                    {anchor(section.title).substr(1), section.on_paper ? "" : " class=\"screen\"",
                     escape(section.title), section.html});
    }
    return all;
}

}  // namespace

std::string anchor(const std::string& title)
{
    std::string name = "#";
    for (const char c : title) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0)
            name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        else if (name.back() != '-' && name.size() > 1)
            name += '-';
    }
    return name;
}

std::string warning(const std::string& title, const std::string& text, const std::vector<std::string>& reasons)
{
    return fill("<div class=\"warning\"><h2>{}</h2>{}<ul>{}</ul></div>\n",
                {escape(title), escape(text), list(reasons)});
}

std::string html_of(const Page& page)
{
    const std::string subtitle = page.subtitle.empty() ? "" : fill("<p class=\"sub\">{}</p>\n", {page.subtitle});
    const std::string top =
        fill("<header><div><h1>{}</h1>\n{}</div>\n{}</header>\n", {escape(page.headline), subtitle, strip_of(page)});
    const std::string body = fill(
        "{}{}<div id=\"answer\">\n{}</div>\n<div class=\"levels\">\n{}<div class=\"evidence\">\n{}{}</div></div>\n",
        {top, page.warning, page.answer, contents_of(page.evidence), evidence_of(page.evidence), page.foot});
    return fill(R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">)"
                R"(<title>{}</title>
<meta name="description" content="{}">
<style>{}{}</style></head>
<body><main>
{}</main>
<script>{}</script></body></html>
)",
                {escape(page.title), escape(page.description), palette_css(), style, typeset(body), script});
}

}  // namespace base::page
