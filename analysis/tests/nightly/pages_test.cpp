// SPDX-License-Identifier: Apache-2.0
// The pages of several runs, of sets of runs, of a summary and of a prediction, in a browser and printed.
#include "base/files.hpp"
#include "testing/browser.hpp"
#include "testing/interference_runs.hpp"
#include "testing/synthetic_run.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

// Writes three runs on three days with a report each, and their pooled report.
void write_set(const fs::path& folder, bool with_levels)
{
    for (int r = 1; r <= 3; ++r) {
        analysis::testing::SyntheticRun what;
        what.run_s = 10.0;
        what.seed = static_cast<std::uint64_t>(r);
        what.noise[0].percent = 8.0 + r;
        if (with_levels) {
            what.noise[0].level = "rate=4GiB/s";
            what.noise.insert(what.noise.begin(), {"mem", "memory.stream", "", 0.0, -1, "rate=2GiB/s"});
            for (const char* level : {"rate=500MiB/s", "rate=1500MiB/s"})
                what.noise.push_back({"checkpoints", "io.write", "load", 0.5, -1, level});
        }
        const fs::path run = folder / ("run-" + std::to_string(r));
        analysis::testing::write_run(run, what);
        base::write_whole(run / "train/run.json",
                          R"({"host": "node1", "started": "2026-11-2)" + std::to_string(r) +
                              R"(T05:44:58Z", "ranks": 2, "training": {"model": "resnet18", "strategy": "ddp"},
                                 "result": {"each_rank": [{"host": "node1", "cpus": "0"}]}})");
        const testing::Outcome outcome = testing::analyse(run);
        REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    }
    const testing::Outcome outcome = testing::analyse(folder);
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
}

void check_page(const testing::Scratch& scratch, const fs::path& page, int least_marks)
{
    testing::check_links(page);
    testing::check_on_screens(scratch.path(), page, 50, least_marks);
    if (testing::found({"pdftotext"}).empty()) return testing::skip("pdftotext is not there");
    const testing::Printed printed = testing::print_page(scratch.path(), page, "A4");
    CHECK(printed.sheets <= 3);
    CHECK(printed.first_sheet().find(">slowdown<") != std::string::npos);  // a label on an axis of the plot
    CHECK(printed.words > 80);
}

// Checks the page of a summary of these runs.
void check_summary(const testing::Scratch& scratch, const std::string& name, const std::vector<std::string>& runs)
{
    std::vector<std::string> words{testing::program, "summary", "--out", (scratch / name).string()};
    for (const std::string& run : runs) words.push_back((scratch / run).string());
    REQUIRE(testing::run(words).status == 0);
    check_page(scratch, scratch / name / "index.html", 5);
}

}  // namespace

TEST_CASE("a browser shows and prints all of the page of several runs and that of a summary")
{
    if (testing::browser().empty()) return testing::skip("chromium is not there");
    const testing::Scratch scratch;
    write_set(scratch / "levels", true);
    check_page(scratch, scratch / "levels/report/index.html", 10);
    write_set(scratch / "set", false);
    check_page(scratch, scratch / "set/report/index.html", 10);
    check_summary(scratch, "summary", {"set/run-1", "set/run-2", "set/run-3", "set/run-1/train"});
    check_summary(scratch, "summary of levels", {"levels/run-1", "levels/run-2", "levels/run-3"});
}

TEST_CASE("a browser shows and prints all of the page of quiet runs against noisy runs")
{
    if (testing::browser().empty()) return testing::skip("chromium is not there");
    const testing::Scratch scratch;
    std::vector<std::string> words{testing::program, "compare", "--out", (scratch / "compared").string(), "--quiet"};
    for (int r = 1; r <= 6; ++r) {
        analysis::testing::SyntheticRun what;
        what.run_s = 10.0;
        what.seed = static_cast<std::uint64_t>(r);
        what.noise[0].percent = r <= 3 ? 0.0 : 10.0;
        const fs::path run = scratch / ("a directory with a long name, run-" + std::to_string(r));
        analysis::testing::write_run(run, what);
        if (r == 4) words.emplace_back("--noisy");
        words.push_back(run.string());
    }
    const testing::Outcome outcome = testing::run(words);
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    check_page(scratch, scratch / "compared/index.html", 5);
}

TEST_CASE("a browser shows and prints all of the page of a prediction")
{
    if (testing::browser().empty()) return testing::skip("chromium is not there");
    const testing::Scratch scratch;
    analysis::testing::SyntheticRun what;
    what.run_s = 60.0;  // a prediction needs 100 steps wholly under the noise
    analysis::testing::write_run(scratch / "run", what);
    const std::string page = scratch / "predicted";
    const std::vector<std::string> words{testing::program, "predict", scratch / "run", "--ranks", "2..64",
                                         "--page",         page};
    const testing::Outcome outcome = testing::run(words);
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    check_page(scratch, fs::path{page} / "index.html", 5);
    CHECK(base::read_whole(fs::path{page} / "index.html").find("<h1>Projected slowdown on 64 ranks: ") !=
          std::string::npos);
    CHECK(testing::run(words).status == 2);  // the folder exists
}
