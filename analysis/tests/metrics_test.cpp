// SPDX-License-Identifier: Apache-2.0
// Tests of metrics: everything that reports show has a card, and a card's places are right.
#include "analysis/metrics/metric.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/page/parts.hpp"
#include "testing/interference_runs.hpp"
#include "testing/synthetic_run.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

using testing::program;
namespace fs = std::filesystem;

namespace {

// Columns that identify a row, or that describe a metric in words.
const std::set<std::string> no_metrics{
    "hosts",       "model",     "data",           "strategy",   "ranks",         "started",       "factor",
    "level",       "stressor",  "kind",           "phase",      "rank",          "measure",       "verdict",
    "cause",       "setting",   "host",           "run",        "part",          "step",          "block",
    "used",        "reason",    "noise",          "row",        "panel",         "state",         "colour",
    "alone",       "begin_s",   "end_s",          "middle_s",   "steps",         "blocks",        "name",
    "of_all",      "from_ms",   "until_ms",       "first_rank", "last_rank",     "first_step",    "last_step",
    "trustworthy", "mechanism", "budget_percent", "mem",        "placebo",       "control.delay", "control.sham",
    "unit",        "dose_is",   "role",           "region",     "critical_rank", "waiting_rank",  "largest_part",
    "resource",    "by_design", "evidence",       "counted",    "treatment",     "slots",         "long_steps_slots"};

bool has_card(const std::string& file, const std::string& column)
{
    return std::any_of(analysis::metrics().begin(), analysis::metrics().end(), [&](const analysis::MetricCard& card) {
        return std::any_of(card.places.begin(), card.places.end(),
                           [&](const analysis::Place& place) { return place.file == file && place.column == column; });
    });
}

// The text of docs/formats.md on a table of a report: the table's row in a table of files, and its section.
std::string description_of(const std::string& file)
{
    const std::string quoted = '`' + file + '`';
    std::istringstream page{base::read_whole(std::string{CROSSTALK_SOURCE} + "/docs/formats.md")};
    std::string text;
    bool of_report = false;
    bool headed = false;
    for (std::string line; std::getline(page, line);) {
        if (line.starts_with("## ")) of_report = line == "## DIR/report/";
        if (line.starts_with("#")) headed = line.find(quoted) != std::string::npos;
        if (of_report && (headed || line.starts_with("| " + quoted))) text += line + '\n';
    }
    return text;
}

}  // namespace

TEST_CASE("the document of formats has every column of every table of a report")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run", {});
    REQUIRE(testing::analyse(scratch / "run").status == 0);
    int seen = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator{scratch / "run/report"}) {
        if (entry.path().extension() != ".csv") continue;
        const std::string file = entry.path().filename().string();
        const std::string text = description_of(file);
        CHECK_MESSAGE(!text.empty(), file);
        const base::CsvTable table{entry.path()};
        for (const std::string& column : table.columns()) {
            if (file == "exposure.csv" && (column == "mem" || column == "placebo" || column.starts_with("control.")))
                continue;  // one column for each factor
            CHECK_MESSAGE(text.find('`' + column + '`') != std::string::npos, file, ", ", column);
            ++seen;
        }
    }
    CHECK(seen > 100);
}

TEST_CASE("every number in the tables of a report is a metric with a card")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run", {});
    REQUIRE(testing::analyse(scratch / "run").status == 0);
    int seen = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator{scratch / "run/report"}) {
        if (entry.path().extension() != ".csv") continue;
        const std::string file = entry.path().filename().string();
        const base::CsvTable table{entry.path()};
        for (const std::string& column : table.columns()) {
            if (no_metrics.contains(column)) continue;
            CHECK_MESSAGE(has_card(file, column), file, ", ", column);
            ++seen;
        }
    }
    CHECK(seen > 25);
}

TEST_CASE("every metric says what it is and stands in a file that the document of formats has")
{
    const std::string formats = base::read_whole(std::string{CROSSTALK_SOURCE} + "/docs/formats.md") +
                                base::read_whole(std::string{CROSSTALK_SOURCE} + "/docs/trace-tools.md");
    std::set<std::string> names;
    for (const analysis::MetricCard& card : analysis::metrics()) {
        CAPTURE(card.name);
        CHECK(names.insert(card.name).second);
        CHECK(card.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos);
        for (const std::string& text : {card.unit, card.summary, card.formula, card.reading, card.from, card.source})
            CHECK_FALSE(text.empty());
        CHECK_FALSE(card.places.empty());
        for (const analysis::Place& place : card.places)
            CHECK_MESSAGE(formats.find(place.file) != std::string::npos, place.file);
    }
    CHECK(names.size() > 40);
}

TEST_CASE("a metric is found by its name, by the page's words and behind a rank")
{
    CHECK(analysis::metric_called("critical_compute") == analysis::metric_called("own work, slowest rank"));
    CHECK(analysis::metric_called("rank 12 ready")->name == "ready_rank");
    CHECK(analysis::metric_called("Wait at N x N")->name == "mpi_wait_nxn");
    CHECK(analysis::metric_called("ready rank 12")->name == "ready_rank");
    CHECK(analysis::metric_called("exchange bucket 3")->name == "exchange_bucket");
    CHECK(analysis::metric_called("read reader 0")->name == "read_reader");
    CHECK(analysis::metric_called("step with outliers")->name == "slowdown");
    CHECK(analysis::metric_called("coefficient of variation")->name == "variability");
    CHECK(analysis::metric_called("p95 step")->name == "tails");
    CHECK(analysis::metric_called("nonsense") == nullptr);
    CHECK(analysis::metric_called("") == nullptr);
}

TEST_CASE("metrics are listed and explained, and a wrong name gets the right one back")
{
    const testing::Outcome list = testing::run({program, "metrics"});
    CHECK(list.status == 0);
    CHECK(list.out.find("slowdown ") != std::string::npos);
    const testing::Outcome all = testing::run({program, "metrics", "--json"});
    CHECK(nlohmann::json::parse(all.out)["metrics"].size() == analysis::metrics().size());
    const testing::Outcome one = testing::run({program, "explain", "exposed_transfer"});
    CHECK(one.status == 0);
    for (const char* part :
         {"on the page: transfer", "formula", "measures.csv, effect_percent where measure is exposed_transfer"})
        CHECK_MESSAGE(one.out.find(part) != std::string::npos, one.out);
    CHECK(testing::run({program, "explain", "ready rank 1"}).out.starts_with("ready_rank, "));
    CHECK(testing::run({program, "explain", "Slowdown of a step"}).out.starts_with("slowdown, "));
    const testing::Outcome wrong = testing::run({program, "explain", "slowdwn"});
    CHECK(wrong.status == 2);
    CHECK(testing::one_line(wrong.err));
    CHECK(wrong.err.find("did you mean slowdown?") != std::string::npos);
}

TEST_CASE("the page explains its words from the cards, by pointer and without")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run", {});
    REQUIRE(testing::analyse(scratch / "run").status == 0);
    const std::string page = base::read_whole(scratch / "run/report/index.html");
    const analysis::MetricCard& transfer = analysis::metric_named("exposed_transfer");
    CHECK(page.find("title=\"" + base::page::escape(transfer.summary)) != std::string::npos);
    CHECK(page.find("<dd>" + base::page::escape(transfer.summary)) != std::string::npos);
}

TEST_CASE("the name of a column leads to its metrics")
{
    CHECK_THROWS_WITH_AS(analysis::metric_named("carry_over_percent"),
                         doctest::Contains("'carry_over_percent' is a column of "), base::UsageError);
    CHECK_THROWS_WITH_AS(analysis::metric_named("slowdwn"), doctest::Contains("did you mean"), base::UsageError);
}
