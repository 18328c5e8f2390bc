// SPDX-License-Identifier: Apache-2.0
#include "base/page/plot.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/page/palette.hpp"
#include "base/page/parts.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace base::page {

namespace {

std::string without(std::string svg, std::string_view begin, std::string_view end)
{
    for (std::size_t at = svg.find(begin); at != std::string::npos; at = svg.find(begin, at)) {
        const std::size_t last = svg.find(end, at);
        if (last == std::string::npos) break;
        svg.erase(at, last + end.size() - at);
    }
    return svg;
}

// Removes the empty groups that gnuplot writes before each text.
std::string without_empty_groups(std::string_view svg)
{
    constexpr std::string_view begin = "<g fill=\"none\"";
    constexpr std::string_view empty = ">\n</g>\n";
    std::string kept;
    while (true) {
        const std::size_t at = svg.find(begin);
        kept += svg.substr(0, at);
        if (at == std::string_view::npos) return kept;
        const std::size_t tag_end = std::min(svg.find('>', at), svg.size() - 1);
        const bool is_empty = svg.substr(tag_end).starts_with(empty);
        if (!is_empty) kept += svg.substr(at, tag_end + 1 - at);
        svg.remove_prefix(is_empty ? tag_end + empty.size() : tag_end + 1);
    }
}

// gnuplot passes hypertext to its own script and leaves the title empty; this writes it into the title. The language
// attribute separates these titles from those that gnuplot adds to every element.
std::string with_text_under_pointer(std::string_view svg)
{
    constexpr std::string_view begin = "<g onmousemove=\"gnuplot_svg.showHypertext(evt,'";
    constexpr std::string_view end = "')\" onmouseout=\"gnuplot_svg.hideHypertext()\"><title> </title>";
    std::string changed;
    while (true) {
        const std::size_t at = svg.find(begin);
        const std::size_t last = at == std::string_view::npos ? at : svg.find(end, at);
        changed += svg.substr(0, last == std::string_view::npos ? last : at);
        if (last == std::string_view::npos) return changed;
        const std::size_t text = at + begin.size();
        changed += "<g><title lang=\"en\">";
        changed += svg.substr(text, last - text);
        changed += "</title>";
        svg.remove_prefix(last + end.size());
    }
}

// The lanes as a JSON attribute for the page's script.
std::string lanes_of(const Plot& plot)
{
    nlohmann::json lanes = nlohmann::json::array();
    for (const Lane& lane : plot.lanes)
        lanes.push_back({{"name", lane.name}, {"colour", "var(" + lane.variable + ")"}});
    return escape(json_text(lanes, one_line));
}

}  // namespace

Plot for_people(const std::filesystem::path& folder, Plot plot)
{
    if (!plot.drawn) return plot;
    const std::filesystem::path file = folder / (plot.name + ".svg");
    const std::string drawn = without_empty_groups(with_text_under_pointer(read_whole(file)));
    std::string svg = without(without(drawn, "<title>", "</title>"), "<desc>", "</desc>");
    const std::size_t root = svg.find("<svg");
    const std::size_t open = root == std::string::npos ? root : svg.find('>', root);
    if (open == std::string::npos) return plot;
    svg.insert(open + 1, "\n<title>" + plot.title + "</title>\n<desc>" + plot.caption + "</desc>\n");
    svg.insert(root + 4, " role=\"img\"");
    write_whole(file, svg);
    return plot;
}

std::string figure(const Plot& plot, const std::filesystem::path& folder)
{
    std::string drawing;
    if (plot.drawn) {
        const std::string svg = read_whole(folder / (plot.name + ".svg"));
        drawing = with_variables(svg.substr(std::min(svg.find("<svg"), svg.size())));  // without the XML prolog
    } else {
        drawing = fill(R"(<p class="small">Not drawn by gnuplot. {}.gp is ready for it.</p>)", {escape(plot.name)});
    }
    std::vector<std::string> files = plot.data;
    files.push_back(plot.name + ".gp");
    if (plot.drawn) files.push_back(plot.name + ".svg");
    const std::string data = plot.lanes.empty() ? "" : fill(R"( class="zooms" data-lanes="{}")", {lanes_of(plot)});
    return fill(
        R"(<figure id="plot-{}" tabindex="0" style="--printed-height:{}mm"{}>{}<figcaption>{} <span class="screen">Data, script and drawing: {}.</span>)"
        R"(</figcaption></figure>)",
        {escape(plot.name), join(plot.paper_mm), data, drawing, escape(plot.caption), links(files)});
}

}  // namespace base::page
