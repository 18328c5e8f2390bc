// SPDX-License-Identifier: Apache-2.0
// Tests of the summary of many runs' reports.
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

// A run: when and where it ran, and its result.
struct Day {
    std::string started;
    std::string host;
    std::string verdict;
    double percent = 2.0;
    std::string noise = "mem";
};

void write_day(const fs::path& run, const Day& day, bool trustworthy = true)
{
    const nlohmann::json noise{{"verdict", day.verdict},
                               {"effect_percent", day.percent},
                               {"low_percent", day.percent - 1.0},
                               {"high_percent", day.percent + 1.0},
                               {"level", ""},
                               {"stressor", "memory.stream"}};
    const nlohmann::json verdict{{"format", 1},
                                 {"trustworthy", trustworthy},
                                 {"covered", true},
                                 {"quiet_step_ms", 20.0},
                                 {"budget_percent", 1.0},
                                 {"identity",
                                  {{"hosts", {day.host}},
                                   {"cpu_model", "a \"fast\" one"},
                                   {"model", "mlp"},
                                   {"data", "digits"},
                                   {"strategy", "ddp"},
                                   {"ranks", 2},
                                   {"started", day.started}}},
                                 {"factors", {{day.noise, noise}}}};
    fs::create_directories(run / "report");
    base::write_whole(run / "report/verdict.json", verdict.dump());
    base::write_whole(run / "report/index.html", "a report");
}

// Writes the report of a run on that day.
void write_verdict(const fs::path& run, int day, double percent, bool trustworthy = true)
{
    write_day(run, {"2026-11-0" + std::to_string(day) + "T12:00:00Z", "n1", "unsafe", percent}, trustworthy);
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
    REQUIRE(rows.rows() == 4);  // one directory was given twice
    CHECK(rows.text(0, "run") == (scratch / "a").string());
    CHECK(rows.get<double>(2, "effect_percent") == 15.0);
    CHECK(rows.text(3, "trustworthy") == "0");

    // 8, 10, 15 on three days: slope 3.5 a day, 7 in two days; half width 2 x 12.706 x 0.8660 = 22.01.
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
        CHECK(outcome.out.find("b: verdict.json is not the verdict of a designed run") != std::string::npos);
    }
    CHECK(summary({scratch / "a"}, {"--out", scratch.path().string()}).status == 2);
}

TEST_CASE("a summary's map has the worst verdict of each node and week, in ISO weeks")
{
    const testing::Scratch scratch;
    const auto on = [](const std::string& started, const std::string& host, const std::string& verdict,
                       double percent = 2.0) {
        return Day{started, host, verdict, percent};
    };
    write_day(scratch / "a", on("2026-12-27T23:59:59Z", "n1", "safe"));         // a Sunday, in week 52
    write_day(scratch / "b", on("2026-12-28T00:00:00Z", "n1", "undecided"));    // a Monday, in week 53
    write_day(scratch / "c", on("2027-01-01T12:00:00Z", "n1", "unsafe", 7.0));  // a Friday of the same week
    write_day(scratch / "d", on("2027-01-02T12:00:00Z", "n1", "safe"));
    write_day(scratch / "e", on("2027-01-12T12:00:00Z", "n2", "unsafe"), false);  // in week 2, not trustworthy
    const testing::Outcome outcome =
        summary({scratch / "a", scratch / "b", scratch / "c", scratch / "d", scratch / "e"},
                {"--out", (scratch / "out").string()});
    INFO(outcome.out, outcome.err);
    REQUIRE(outcome.status == 0);
    const base::CsvTable weeks{scratch / "out/weeks.csv"};
    REQUIRE(weeks.rows() == 3);
    CHECK(weeks.text(0, "week") == "2026-W52");
    CHECK(weeks.text(0, "begins") == "2026-12-21");
    CHECK(weeks.text(0, "verdict") == "safe");
    CHECK(weeks.text(1, "week") == "2026-W53");
    CHECK(weeks.get<int>(1, "runs") == 3);
    CHECK(weeks.text(1, "verdict") == "unsafe");
    CHECK(weeks.get<double>(1, "effect_percent") == 7.0);
    CHECK(weeks.text(2, "hosts") == "n2");
    CHECK(weeks.text(2, "verdict") == "untrusted");
    CHECK(weeks.get<int>(2, "trustworthy") == 0);

    // Week 1 of 2027 has no run.
    CHECK(outcome.out.find("hosts  2026-W52  2026-W53     2027-W01  2027-W02\n") != std::string::npos);
    CHECK(outcome.out.find("n1     safe      unsafe: mem  -         -\n") != std::string::npos);
    CHECK(outcome.out.find("n2     -         -            -         untrusted\n") != std::string::npos);
    const std::string page = base::read_whole(scratch / "out/index.html");
    CHECK(page.find(R"(<span class="badge unsafe">unsafe</span><div class="small">mem</div>)") != std::string::npos);
}

TEST_CASE("--fail-on of a summary asks the newest run of each training with the same noises and hosts")
{
    const testing::Scratch scratch;
    write_day(scratch / "a", {"2026-11-01T12:00:00Z", "n1", "unsafe"});
    write_day(scratch / "b", {"2026-11-02T12:00:00Z", "n1", "safe"});
    write_day(scratch / "c", {"2026-11-01T12:00:00Z", "n2", "undecided"});
    const std::vector<fs::path> runs{scratch / "a", scratch / "b", scratch / "c"};
    CHECK(summary(runs, {"--fail-on", "unsafe,untrusted"}).status == 0);  // an earlier run was; the newest is not
    const testing::Outcome undecided = summary(runs, {"--fail-on", "undecided"});
    CHECK(undecided.status == 1);
    CHECK(undecided.err == "interference: " + (scratch / "c").string() + ": mem is undecided (--fail-on undecided)\n");
    write_day(scratch / "d", {"2026-11-03T12:00:00Z", "n1", "safe"}, false);
    CHECK(summary({scratch / "b", scratch / "d"}, {"--fail-on", "untrusted"}).status == 1);
    write_day(scratch / "e", {"2026-11-04T12:00:00Z", "n1", "safe", 2.0, "io"});  // replaces none of mem
    CHECK(summary({scratch / "a", scratch / "e"}, {"--fail-on", "unsafe"}).status == 1);
    const testing::Outcome wrong = summary(runs, {"--fail-on", "unsave"});
    CHECK(wrong.status == 2);
    CHECK(wrong.err.find("did you mean unsafe") != std::string::npos);
}

TEST_CASE("a number of cores that is too small is an answer, and no reason for an alarm")
{
    const testing::Scratch scratch;
    write_day(scratch / "night", {"2026-11-02T12:00:00Z", "n1", "safe"});
    write_day(scratch / "cores", {"2026-11-03T12:00:00Z", "n1", "unsafe", 60.0, "job.cores"});
    const fs::path file = scratch / "cores/report/verdict.json";
    nlohmann::json verdict = nlohmann::json::parse(base::read_whole(file));
    verdict["factors"]["job.cores"]["stressor"] = "job.cores";
    const auto judged = [&] { return summary({scratch / "night", scratch / "cores"}, {"--fail-on", "unsafe"}); };
    base::write_whole(file, verdict.dump());
    CHECK(judged().status == 1);  // a single number of cores, which was asked about
    verdict["cores"] = {{{"keep", 2}, {"at_least", 2}, {"most", 4}, {"neighbour", "none"}}};
    base::write_whole(file, verdict.dump());
    CHECK(judged().status == 0);
    const testing::Outcome outcome = judged();
    CHECK(outcome.out.find("n1     safe\n") != std::string::npos);  // the week's cell
    CHECK(summary({scratch / "cores"}, {"--openmetrics", (scratch / "m.prom").string()}).status == 0);
    CHECK(base::read_whole(scratch / "m.prom").find("crosstalk_verdict{") == std::string::npos);
}

TEST_CASE("a summary's metrics are those of the newest runs, and know the last trustworthy one")
{
    const testing::Scratch scratch;
    write_day(scratch / "a", {"1970-01-02T00:00:00Z", "n1", "safe", 1.5});
    write_day(scratch / "b", {"1970-01-03T00:00:00Z", "n1", "unsafe", 4.0}, false);
    const fs::path file = scratch / "crosstalk.prom";
    REQUIRE(summary({scratch / "a", scratch / "b"}, {"--openmetrics", file.string()}).status == 0);
    const std::string text = base::read_whole(file);
    const std::string labels =
        R"({workload="mlp",data="digits",strategy="ddp",ranks="2",node_type="a \"fast\" one",hosts="n1",noises="mem")";
    for (const std::string& line :
         {"crosstalk_effect_ratio" + labels + ",noise=\"mem\"} 0.04\n",
          "crosstalk_effect_low_ratio" + labels + ",noise=\"mem\"} 0.03\n",
          "crosstalk_effect_high_ratio" + labels + ",noise=\"mem\"} 0.05\n",
          "crosstalk_verdict" + labels + ",noise=\"mem\",verdict=\"unsafe\"} 1\n",
          "crosstalk_verdict" + labels + ",noise=\"mem\",verdict=\"safe\"} 0\n",
          "crosstalk_trustworthy" + labels + "} 0\n", "crosstalk_run_timestamp_seconds" + labels + "} 172800\n",
          "crosstalk_trustworthy_run_timestamp_seconds" + labels + "} 86400\n",
          std::string{"# UNIT crosstalk_effect_ratio ratio\n"}}) {
        INFO(line, text);
        CHECK(text.find(line) != std::string::npos);
    }
    CHECK(text.ends_with("# EOF\n"));
    const testing::Outcome nowhere = summary({scratch / "a"}, {"--openmetrics", (scratch / "no/such").string()});
    CHECK(nowhere.status == 1);
    CHECK(testing::one_line(nowhere.err));
}
