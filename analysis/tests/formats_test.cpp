// SPDX-License-Identifier: Apache-2.0
// Report formats for CI and wikis: Markdown, rows as JSON, the page on standard output, a PDF.
#include "base/files.hpp"
#include "testing/browser.hpp"
#include "testing/interference_runs.hpp"
#include "testing/synthetic_run.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace fs = std::filesystem;
using testing::analyse;

TEST_CASE("a report prints as Markdown, as rows of JSON and as the page")
{
    const testing::Scratch scratch;
    analysis::testing::SyntheticRun run;
    run.noise[0].label = "me_m|<b>";
    analysis::testing::write_run(scratch / "run", run);
    const auto printed = [&](const std::string& format) {
        const testing::Outcome outcome =
            analyse(scratch / "run", {"--format", format, "--out", (scratch / format).string()});
        INFO(outcome.err);
        REQUIRE(outcome.status == 0);
        return outcome.out;
    };
    const std::string markdown = printed("md");
    CHECK(markdown.starts_with("## Unsafe: me\\_m\\|&lt;b>"));
    CHECK(markdown.find("| me\\_m\\|&lt;b> | +") != std::string::npos);
    CHECK(markdown.find(" | **unsafe** | backward | ") != std::string::npos);
    CHECK(markdown.find("| placebo | ") != std::string::npos);
    CHECK(markdown.find("| control delay | ") != std::string::npos);
    CHECK(markdown.find("report: ") == std::string::npos);

    const nlohmann::json json = nlohmann::json::parse(printed("json"));
    CHECK(json["trustworthy"] == true);
    CHECK(json["verdicts"][0]["factor"] == "me_m|<b>");
    CHECK(json["verdicts"][0]["effect_percent"].get<double>() == doctest::Approx(10.0).epsilon(0.05));
    CHECK(json["controls"].size() == 2);
    CHECK(std::any_of(json["effects"].begin(), json["effects"].end(),
                      [](const nlohmann::json& row) { return row["phase"] == "backward" && row["rank"] == 1; }));

    const std::string page = printed("html");
    CHECK(page == base::read_whole(scratch / "html/index.html"));
    CHECK(analyse(scratch / "run", {"--format", "mdd"}).status == 2);
}

TEST_CASE("a report prints into a PDF where there is a browser, and else says so")
{
    const testing::Scratch scratch;
    analysis::testing::SyntheticRun run;
    run.run_s = 6.0;
    analysis::testing::write_run(scratch / "run", run);
    const testing::Outcome without = testing::run(
        {"env", "PATH=/nowhere", testing::program, "analyse", (scratch / "run").string(), "--draws", "99", "--pdf"});
    CHECK(without.status == 77);
    CHECK(testing::one_line(without.err));
    CHECK(without.err.find("chromium") != std::string::npos);
    CHECK_FALSE(fs::exists(scratch / "run/report"));
    if (testing::browser().empty()) return testing::skip("chromium is not there");
    const testing::Outcome outcome = analyse(scratch / "run", {"--pdf"});
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(base::read_whole(scratch / "run/report/report.pdf").starts_with("%PDF"));
}
