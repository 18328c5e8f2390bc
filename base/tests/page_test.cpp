// SPDX-License-Identifier: Apache-2.0
// The style sheet of pages (contrast), and the structure of a page.
#include "base/page/page.hpp"

#include "base/files.hpp"
#include "base/page/parts.hpp"
#include "base/words.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace {

using Variables = std::map<std::string, std::string>;

// The variables in the braces that open at or after `from`, such as "--ink: #1c2430".
Variables variables_in(const std::string& style, std::size_t from)
{
    const std::size_t begin = style.find('{', from) + 1;
    const std::string block = style.substr(begin, style.find('}', begin) - begin);
    Variables all;
    for (const std::string& rule : base::split(block, ';'))
        if (const std::size_t colon = rule.find(':'); colon != std::string::npos)
            all[rule.substr(rule.find_first_not_of(" \n"), colon - rule.find_first_not_of(" \n"))] =
                rule.substr(rule.find_first_not_of(' ', colon + 1));
    return all;
}

// Relative luminance by WCAG 2.2 of a colour such as "#1c2430".
double luminance(const std::string& colour)
{
    REQUIRE_MESSAGE(colour.size() == 7, colour);
    double sum = 0.0;
    const double weights[] = {0.2126, 0.7152, 0.0722};
    for (std::size_t i = 0; i < 3; ++i) {
        const double channel = std::stoi(colour.substr(1 + 2 * i, 2), nullptr, 16) / 255.0;
        sum += weights[i] * (channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4));
    }
    return sum;
}

double contrast(const std::string& one, const std::string& other)
{
    const double a = luminance(one);
    const double b = luminance(other);
    return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05);
}

// Checks the contrast of text with its background, and of plot marks, which are not text.
void check_contrast(Variables style)
{
    const std::vector<std::pair<const char*, const char*>> texts{
        {"--ink", "--ground"},           {"--ink", "--paper"},          {"--quiet", "--ground"},
        {"--quiet", "--paper"},          {"--ink", "--code"},           {"--safe", "--safe-ground"},
        {"--unsafe", "--unsafe-ground"}, {"--open", "--open-ground"},   {"--safe", "--paper"},
        {"--unsafe", "--paper"},         {"--on-square", "--training"}, {"--on-square", "--both"},
        {"--on-noise", "--noise"}};
    for (const auto& [text, ground] : texts)
        CHECK_MESSAGE(contrast(style.at(text), style.at(ground)) >= 4.5, text, " on ", ground);
    for (const char* mark : {"--dot", "--alarm", "--truth", "--zero"})
        CHECK_MESSAGE(contrast(style.at(mark), style.at("--paper")) >= 3.0, mark);
}

}  // namespace

TEST_CASE("text of the style has a contrast of 4.5 to its ground, light and dark, and marks of 3")
{
    CHECK(contrast("#000000", "#ffffff") == doctest::Approx(21.0));
    CHECK(contrast("#777777", "#ffffff") == doctest::Approx(4.48).epsilon(0.001));  // from WebAIM's checker
    const std::string style = base::read_whole(std::string{CROSSTALK_SOURCE} + "/base/page/page.css");
    const Variables light = variables_in(style, style.find(":root"));
    Variables dark = variables_in(style, style.find(":root", style.find("prefers-color-scheme: dark")));
    dark.insert(light.begin(), light.end());  // adds the variables that the dark style does not change
    check_contrast(light);
    check_contrast(dark);
    CHECK(light.at("--ground") != dark.at("--ground"));
}

TEST_CASE("a page has contents for each section that is not empty, and grades in words")
{
    using base::page::Grade;
    const std::string page = base::page::html_of({.title = "a < b",
                                                  .description = "",
                                                  .headline = "<h>",
                                                  .subtitle = "",
                                                  .trust = {{"Placebo", Grade::held, "\"0\""},
                                                            {"Known delay", Grade::not_held, ""},
                                                            {"Known pause", Grade::not_tested, ""}},
                                                  .trust_section = "Why, and how",
                                                  .warning = "",
                                                  .answer = "<p>yes</p>",
                                                  .evidence = {{"Why, and how", "<p>so</p>"}, {"Empty", ""}},
                                                  .foot = ""});
    CHECK(page.find("<title>a &lt; b</title>") != std::string::npos);
    CHECK(page.find("<h1>&lt;h&gt;</h1>") != std::string::npos);
    CHECK(page.find("<section id=\"why-and-how\"><h2>Why, and how</h2>") != std::string::npos);
    CHECK(page.find("<a href=\"#why-and-how\">Why, and how</a>") != std::string::npos);
    CHECK(page.find("#empty") == std::string::npos);
    CHECK(page.find("title=\"&quot;0&quot;\"") != std::string::npos);
    for (const char* words : {"✓ held", "✗ not held", "– not tested"}) CHECK(page.find(words) != std::string::npos);
}

TEST_CASE("a value stays on a line with half of its interval's width")
{
    CHECK(base::page::with_half_width("1.2", "0.3") == "1.2 <span class=\"half\">± 0.3</span>");
    CHECK(base::page::with_half_width("1.2", "") == "1.2");
    const std::string table = base::page::plain_table({"Noise", "load"}, {{base::page::words("io"), {"1", "number"}}});
    CHECK(table.find("<th class=\"number\">load</th>") != std::string::npos);
    CHECK(table.find("<td class=\"number\" data-title=\"load\"><span>1</span></td>") != std::string::npos);
}
