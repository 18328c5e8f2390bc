// SPDX-License-Identifier: Apache-2.0
// Reports of many runs side by side.
#include "base/csv.hpp"
#include "base/files.hpp"
#include "testing/interference_runs.hpp"
#include "testing/synthetic_run.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <filesystem>

using testing::program;
namespace fs = std::filesystem;

namespace {

// A report as a run of that day has it.
void write_verdict(const fs::path& run, int day, double percent, bool trustworthy = true)
{
    const std::string started = "2026-11-0" + std::to_string(day) + "T12:00:00Z";
    const nlohmann::json noise{{"verdict", "unsafe"},
                               {"effect_percent", percent},
                               {"low_percent", percent - 1.0},
                               {"high_percent", percent + 1.0},
                               {"level", ""},
                               {"stressor", "memory.stream"}};
    const nlohmann::json verdict{{"format", 1},
                                 {"trustworthy", trustworthy},
                                 {"covered", true},
                                 {"quiet_step_ms", 20.0},
                                 {"budget_percent", 1.0},
                                 {"identity",
                                  {{"hosts", {"n1"}},
                                   {"model", "mlp"},
                                   {"data", "digits"},
                                   {"strategy", "ddp"},
                                   {"ranks", 2},
                                   {"started", started}}},
                                 {"factors", {{"mem", noise}}}};
    fs::create_directories(run / "report");
    base::write_whole(run / "report/verdict.json", verdict.dump());
    base::write_whole(run / "report/index.html", "a report");
}

testing::Outcome summary(const std::vector<fs::path>& runs, const std::vector<std::string>& more = {})
{
    std::vector<std::string> words{program, "summary"};
    for (const fs::path& run : runs) words.push_back(run.string());
    words.insert(words.end(), more.begin(), more.end());
    return testing::run(words);
}

}  // namespace

TEST_CASE("a summary has a row for each run by date, its trend by hand, and names what has no report")
{
    const testing::Scratch scratch;
    write_verdict(scratch / "b", 2, 10.0);
    write_verdict(scratch / "c", 3, 15.0);
    write_verdict(scratch / "a", 1, 8.0);
    write_verdict(scratch / "untrusted", 4, 99.0, false);
    fs::create_directories(scratch / "empty");
    const testing::Outcome outcome = summary(
        {scratch / "b", scratch / "c", scratch / "a", scratch / "a/report", scratch / "untrusted", scratch / "empty"},
        {"--out", (scratch / "out").string()});
    INFO(outcome.out, outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(outcome.out.find("empty: no report") != std::string::npos);
    CHECK(outcome.out.find("+8.00 % (7.00 to 9.00 %) unsafe") != std::string::npos);

    const base::CsvTable rows{scratch / "out/summary.csv"};
    REQUIRE(rows.rows() == 4);  // one was given twice
    CHECK(rows.text(0, "run") == (scratch / "a").string());
    CHECK(rows.get<double>(2, "effect_percent") == 15.0);
    CHECK(rows.text(3, "trustworthy") == "0");

    // 8, 10, 15 on three days: 3.5 a day, so 7 in two days; 2 x 12.706 x 0.8660 = 22.01
    const base::CsvTable trends{scratch / "out/trends.csv"};
    REQUIRE(trends.rows() == 1);
    CHECK(trends.get<int>(0, "runs") == 3);
    CHECK(trends.get<double>(0, "days") == doctest::Approx(2.0));
    CHECK(trends.get<double>(0, "change_percent") == doctest::Approx(7.0));
    CHECK(trends.get<double>(0, "high_percent") == doctest::Approx(29.01).epsilon(1e-3));

    const std::string page = base::read_whole(scratch / "out/index.html");
    CHECK(page.find("href=\"../a/report/index.html\"") != std::string::npos);
    CHECK(page.find("empty: no report") != std::string::npos);
    if (fs::exists("/usr/bin/gnuplot")) CHECK(page.find("<svg") != std::string::npos);
}

TEST_CASE("a summary prints Markdown and rows as JSON")
{
    const testing::Scratch scratch;
    write_verdict(scratch / "a_b", 1, 8.0);
    const testing::Outcome markdown = summary({scratch / "a_b"}, {"--format", "md"});
    CHECK(markdown.out.find("a\\_b | 2026-11-01T12:00:00Z | n1 | mlp | 2 | yes | +8.00 %") != std::string::npos);
    const nlohmann::json json = nlohmann::json::parse(summary({scratch / "a_b"}, {"--format", "json"}).out);
    CHECK(json["runs"][0]["factor"] == "mem");
    CHECK(json["runs"][0]["effect_percent"] == 8.0);
    CHECK(json["without_report"].empty());
}

TEST_CASE("a summary of nothing fails, and a report that is none is named")
{
    const testing::Scratch scratch;
    const testing::Outcome nothing = summary({scratch / "none"});
    CHECK(nothing.status == 1);
    CHECK(testing::one_line(nothing.err));
    write_verdict(scratch / "a", 1, 8.0);
    fs::create_directories(scratch / "b/report");
    for (const char* text : {"{", "{}", "[]", R"({"identity": 3})"}) {
        base::write_whole(scratch / "b/report/verdict.json", text);
        const testing::Outcome outcome = summary({scratch / "a", scratch / "b"});
        CHECK(outcome.status == 0);
        CHECK(outcome.out.find("b: verdict.json is not that of a designed run") != std::string::npos);
    }
    CHECK(summary({scratch / "a"}, {"--out", scratch.path().string()}).status == 2);
}
