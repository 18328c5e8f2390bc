// SPDX-License-Identifier: Apache-2.0
// The page in a browser, and printed: nothing cut off, nothing faint, two sheets of paper.
#include "base/csv.hpp"
#include "base/files.hpp"
#include "base/words.hpp"
#include "testing/browser.hpp"
#include "testing/interference_runs.hpp"
#include "testing/synthetic_run.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <regex>

namespace {

namespace fs = std::filesystem;

// Writes a report of four noises and three controls with records: two ranks on CPUs 0 and 1, noise on CPUs 1 and 2, of
// four CPUs.
fs::path write_report(const fs::path& folder)
{
    analysis::testing::SyntheticRun run;
    run.noise.insert(run.noise.begin() + 1, {{"io.write", "io.write", "load", 0.9, -1},
                                             {"net", "network.exchange", "transfer", 3.0, -1},
                                             {"hog", "capacity.hog", "", 0.0, -1}});
    run.step_ms = 100.0;
    run.slot_s = 1.0;
    run.run_s = 210.0;
    analysis::testing::write_run(folder, run);
    base::write_whole(folder / "train/run.json",
                      R"({"host": "node1", "cpus_online": 4, "started": "2026-11-21T05:44:58Z", "ranks": 2,
                          "command_line": ["ddl-train", "--model", "resnet18[width=32]"],
                          "training": {"model": "resnet18[width=32]", "strategy": "ddp"},
                          "result": {"each_rank": [{"host": "node1", "cpus": "0"}, {"host": "node1", "cpus": "1"}]}})");
    base::write_whole(folder / "noise/here.0/noise.json",
                      R"json({"host": "node1", "cpus": "1-2", "cpus_online": 4,
                              "command_line": ["noisegen", "--schedule", "rotation(mem, net; slot=200ms)"],
                              "factor_levels": [{"factor": "mem", "bytes_per_s": 1000.0, "slots": 7}]})json");
    const testing::Outcome outcome =
        testing::run({std::string{CROSSTALK_BIN} + "/interference", "analyse", folder.string(), "--draws", "499"});
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    return folder / "report";
}

// Adds all numbers in a JSON document, including those in its texts.
void add_numbers(std::vector<double>& numbers, const nlohmann::json& json)
{
    if (json.is_number()) numbers.push_back(json.get<double>());
    if (json.is_structured())
        for (const nlohmann::json& part : json) add_numbers(numbers, part);
    if (!json.is_string()) return;
    const std::string text = json.get<std::string>();
    const std::regex number{R"([0-9]+([.][0-9]+)?)"};
    for (std::sregex_iterator match{text.begin(), text.end(), number}; match != std::sregex_iterator{}; ++match)
        numbers.push_back(std::stod(match->str()));
}

// Adds the numbers of a CSV file, and half of the width of each interval, which the page shows as "± 0.37".
void add_table(std::vector<double>& numbers, const base::CsvTable& table)
{
    const auto number = [](const std::string& cell) { return std::strtod(cell.c_str(), nullptr); };
    for (std::size_t row = 0; row < table.rows(); ++row) {
        for (const std::string& column : table.columns()) numbers.push_back(number(table.text(row, column)));
        if (std::count(table.columns().begin(), table.columns().end(), "high_percent") == 1)
            numbers.push_back((number(table.text(row, "high_percent")) - number(table.text(row, "low_percent"))) / 2.0);
    }
}

}  // namespace

TEST_CASE("each number that the page shows is in verdict.json or a table")
{
    const testing::Scratch scratch;
    const fs::path report = write_report(scratch / "run");
    std::vector<double> known{1000.0 / 1e9};  // bytes per second are shown as GB/s
    add_numbers(known, nlohmann::json::parse(base::read_whole(report / "verdict.json")));
    for (const char* name :
         {"effects.csv", "measures.csv", "outliers.csv", "time.csv", "factor_levels.csv", "verdicts.csv"})
        add_table(known, base::CsvTable{report / name});
    std::string page = base::read_whole(report / "index.html");
    page.erase(0, page.find("</head>"));
    for (const auto& [begin, end] : {std::pair<std::string, std::string>{"<svg", "</svg>"},
                                     {"<code", "</code>"},
                                     {"<script", "</script>"},
                                     {"<", ">"}})
        for (std::size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at))
            page.replace(at, page.find(end, at) + end.size() - at, " ");
    const std::regex shown{R"((^|[ (+])([0-9]+)([.]([0-9]+))?(?![\w:&-]))"};
    int seen = 0;
    for (std::sregex_iterator match{page.begin(), page.end(), shown}; match != std::sregex_iterator{};
         ++match, ++seen) {
        const double value = std::stod((*match)[2].str() + (*match)[3].str());
        const double half_a_digit = 0.51 * std::pow(10.0, -static_cast<double>((*match)[4].length()));
        CHECK_MESSAGE(std::any_of(known.begin(), known.end(),
                                  [&](double one) { return std::abs(std::abs(one) - value) <= half_a_digit; }),
                      page.substr(static_cast<std::size_t>(match->position()) - 30, 60));
    }
    CHECK(seen > 100);
}

TEST_CASE("a browser shows all of the page on a phone, a tablet and a screen, light and dark")
{
    if (testing::browser().empty()) return testing::skip("chromium is not there");
    const testing::Scratch scratch;
    const fs::path file = write_report(scratch / "run") / "index.html";
    testing::check_links(file);
    testing::check_on_screens(scratch.path(), file);
    for (const nlohmann::json& result : testing::probe(scratch.path(), base::read_whole(file), {1000, 1060})) {
        CHECK(result["wrong"] == nlohmann::json::array());
        CHECK(result["buttons"].get<int>() > 10);      // headers of sortable tables
        CHECK(result["pointed_at"].get<int>() > 100);  // plot marks that show their value
    }
}

TEST_CASE("a page that is too wide, faint or without rules is noticed")
{
    if (testing::browser().empty()) return testing::skip("chromium is not there");
    const testing::Scratch scratch;
    const std::string bad = R"(<head><title>plot_1a</title><style>p { color: #eee; background: #fff; }</style></head>
<p class="lost" style="width: 500px">text</p><div>under</div><div style="margin-top: -20px">over</div>
<a>no way</a><script>throw Error("lost")</script>
<table style="width: 1px"><thead><tr><th style="overflow-wrap: anywhere">unbreakable</th></tr></thead></table>
<p style="width: 1px"><span class="unit">1 ± 2</span></p>
<table><thead><tr><th><button>n</button></th></tr></thead><tbody><tr><td>2</td></tr><tr><td>1</td></tr></tbody></table>)";
    const std::string found = testing::probe(scratch.path(), bad, {390})[0]["wrong"].dump();
    for (const char* each : {"outside: P.lost", "no rule for class lost", "faint: P.lost",
                             "no text for people: plot_1a", "overlap: \\\"under\\\"", "broken head: unbreakable",
                             "torn apart: 1 ± 2", "no keyboard reaches A", "script: ", "does not sort: n"})
        CHECK_MESSAGE(found.find(each) != std::string::npos, found);
}

TEST_CASE("the page of four noises prints on two sheets of either size with nothing cut off")
{
    if (testing::browser().empty()) return testing::skip("chromium is not there");
    if (testing::found({"pdftotext"}).empty()) return testing::skip("pdftotext is not there");
    const testing::Scratch scratch;
    const fs::path report = write_report(scratch / "run");
    for (const char* size : {"A4", "letter"}) {
        CAPTURE(size);
        const testing::Printed printed = testing::print_page(scratch.path(), report / "index.html", size);
        CHECK(printed.sheets == 2);
        CHECK(printed.words > 300);
        CHECK(printed.text.find(">narrow.<") != std::string::npos);          // the page's last sentence
        CHECK(printed.first_sheet().find(">budget<") != std::string::npos);  // a label of the plot
    }
}

TEST_CASE("a drawing of the node says which CPUs training and noise had and is left out where no record says")
{
    const testing::Scratch scratch;
    const fs::path report = write_report(scratch / "run");
    const std::string page = base::read_whole(report / "index.html");
    for (const char* cpu :
         {"CPU 0: training rank<", "CPU 1: training rank and noise<", "CPU 2: noise<", "CPU 3: nobody<"})
        CHECK_MESSAGE(page.find(cpu) != std::string::npos, cpu);
    const nlohmann::json nodes = nlohmann::json::parse(base::read_whole(report / "verdict.json"))["nodes"];
    CHECK(nodes == nlohmann::json::parse(
                       R"([{"host": "node1", "cpus_online": 4, "training_cpus": "0-1", "noise_cpus": "1-2"}])"));
    fs::remove_all(report);
    fs::remove(scratch / "run/noise/here.0/noise.json");
    REQUIRE(testing::run({std::string{CROSSTALK_BIN} + "/interference", "analyse", scratch / "run", "--draws", "99"})
                .status == 0);
    CHECK(base::read_whole(report / "index.html").find("Who had which CPU") == std::string::npos);
}
