// SPDX-License-Identifier: Apache-2.0
// Checks HTML pages in a headless browser: on screens and in print.
#pragma once

#include "base/files.hpp"
#include "base/words.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <regex>
#include <string>
#include <utility>
#include <vector>

namespace testing {

// The first of these programs that is on PATH; empty if none of them is.
inline std::string found(const std::vector<std::string>& names)
{
    const char* path = std::getenv("PATH");
    for (const std::string& name : names)
        for (const std::string& folder : base::split(path == nullptr ? "" : path, ':'))
            if (std::filesystem::exists(std::filesystem::path{folder} / name))
                return (std::filesystem::path{folder} / name).string();
    return "";
}

inline std::string browser()
{
    return found({"chromium", "chromium-browser", "google-chrome"});
}

inline Outcome browse(const std::filesystem::path& scratch, const std::vector<std::string>& options,
                      const std::filesystem::path& file)
{
    std::vector<std::string> words{"timeout",
                                   "120",
                                   browser(),
                                   "--headless",
                                   "--no-sandbox",
                                   "--disable-gpu",
                                   "--user-data-dir=" + (scratch / "browser").string()};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back("file://" + file.string());
    return run(words);
}

inline std::string replaced(std::string text, const std::string& what, const std::string& with)
{
    const std::size_t at = text.find(what);
    REQUIRE(at != std::string::npos);
    return text.replace(at, what.size(), with);
}

// Runs page_probe.html on the page at each of the widths, in each of the colour schemes (light, dark). Returns one
// object per scheme and width: the faults found, and counts.
inline nlohmann::json probe(const std::filesystem::path& scratch, const std::string& page,
                            const std::vector<int>& widths, const std::vector<std::string>& schemes = {"light"},
                            int least_texts = 50, int least_marks = 10)
{
    std::string text = nlohmann::json(page).dump();
    for (std::size_t at = text.find("</"); at != std::string::npos; at = text.find("</", at))
        text.replace(at, 2, "<\\/");
    std::string probe = base::read_whole(std::string{CROSSTALK_SOURCE} + "/testing/page_probe.html");
    probe = replaced(probe, "WIDTHS", nlohmann::json(widths).dump());
    probe = replaced(probe, "SCHEMES", nlohmann::json(schemes).dump());
    probe = replaced(probe, "TEXTS", std::to_string(least_texts));
    probe = replaced(probe, "MARKS", std::to_string(least_marks));
    probe = replaced(probe, "PAGE", text);
    base::write_whole(scratch / "probe.html", probe);
    const Outcome outcome = browse(scratch, {"--dump-dom", "--window-size=1600,1000", "--virtual-time-budget=20000"},
                                   scratch / "probe.html");
    const std::size_t begin = outcome.out.find("RESULT ");
    const std::size_t end = outcome.out.find(" END", begin);
    REQUIRE_MESSAGE(begin != std::string::npos, outcome.err);
    std::string json = outcome.out.substr(begin + 7, end - begin - 7);
    for (const auto& [entity, sign] : {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&nbsp;", " "}, {"&amp;", "&"}})
        json = std::regex_replace(json, std::regex{entity}, sign);
    return nlohmann::json::parse(json);
}

// Checks the page on a phone, a tablet and a large screen, in light and dark mode.
inline void check_on_screens(const std::filesystem::path& scratch, const std::filesystem::path& page_file,
                             int least_texts = 50, int least_marks = 10)
{
    const std::string page = base::read_whole(page_file);
    const std::vector<int> widths{390, 768, 1280};
    const nlohmann::json results = probe(scratch, page, widths, {"light", "dark"}, least_texts, least_marks);
    REQUIRE(results.size() == 2 * widths.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
        const bool dark = i >= widths.size();
        CAPTURE(widths[i % widths.size()]);
        CAPTURE(dark);
        CHECK(results[i]["dark"] == dark);
        CHECK(results[i]["wrong"] == nlohmann::json::array());
    }
}

// Checks that every file to which the page links exists.
inline void check_links(const std::filesystem::path& page_file)
{
    const std::string page = base::read_whole(page_file);
    const std::regex one{R"x(href="([^"#]+)")x"};
    int links = 0;
    for (std::sregex_iterator match{page.begin(), page.end(), one}; match != std::sregex_iterator{}; ++match, ++links)
        CHECK_MESSAGE(std::filesystem::exists(page_file.parent_path() / (*match)[1].str()), (*match)[1].str());
    CHECK(links > 3);
}

struct Printed {
    int sheets = 0;
    int words = 0;
    std::string text;  // output of pdftotext -bbox
    std::string first_sheet() const { return text.substr(0, text.find("</page>")); }
};

// Prints the page on paper of this size and checks that nothing is cut off. Needs pdftotext.
inline Printed print_page(const std::filesystem::path& scratch, const std::filesystem::path& page_file,
                          const std::string& size)
{
    const std::string page = base::read_whole(page_file);
    base::write_whole(scratch / "print.html", replaced(page, "</style>", "@page { size: " + size + "; }</style>"));
    const std::filesystem::path pdf = scratch / (size + ".pdf");
    browse(scratch, {"--no-pdf-header-footer", "--print-to-pdf=" + pdf.string()}, scratch / "print.html");
    Printed printed;
    printed.text = run({"pdftotext", "-bbox", pdf.string(), "-"}).out;
    const std::regex one{R"x(<page width="([\d.]+)"|xMin="([-\d.]+)" yMin="[-\d.]+" xMax="([\d.]+)")x"};
    double width = 0.0;
    for (std::sregex_iterator match{printed.text.begin(), printed.text.end(), one}; match != std::sregex_iterator{};
         ++match) {
        if ((*match)[1].matched) {
            ++printed.sheets;
            width = std::stod((*match)[1]);
            continue;
        }
        ++printed.words;
        CHECK(std::stod((*match)[2]) >= 20.0);
        CHECK(std::stod((*match)[3]) <= width - 20.0);
    }
    return printed;
}

}  // namespace testing
