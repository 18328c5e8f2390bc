// SPDX-License-Identifier: Apache-2.0
// Several runs of one design, and a run with added parts, give one report.
#include "base/csv.hpp"
#include "base/files.hpp"
#include "testing/interference_runs.hpp"
#include "testing/synthetic_run.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

using analysis::testing::SyntheticRun;
namespace fs = std::filesystem;

namespace {

// Writes a run of six seconds, each with its own true effect and its own order of slots.
fs::path written(const fs::path& run, std::uint64_t seed, double percent)
{
    SyntheticRun what;
    what.run_s = 6.0;
    what.seed = seed;
    what.noise[0].percent = percent;
    analysis::testing::write_run(run, what);
    base::write_whole(run / "train/run.json",
                      R"({"training": {"model": "mlp"}, "result": {"each_rank": [{"host": "here", "cpus": "0"}]}})");
    base::write_whole(
        run / "noise/here.0/noise.json",
        nlohmann::json{{"host", "here"}, {"seed", seed}, {"cpus", std::to_string(seed % 2)}, {"memory", "local"}}
            .dump());
    return run;
}

testing::Outcome pooled(const std::vector<fs::path>& runs, const fs::path& out)
{
    std::vector<std::string> words{testing::program, "analyse", "--draws", "99", "--out", out.string()};
    for (const fs::path& run : runs) words.push_back(run.string());
    return testing::run(words);
}

nlohmann::json read(const fs::path& file)
{
    return nlohmann::json::parse(base::read_whole(file));
}

double member(const nlohmann::json& json, const char* key)
{
    return json.at(key).get<double>();
}

}  // namespace

TEST_CASE("runs of one design are pooled with the run as the unit and what changes between them is told")
{
    const testing::Scratch scratch;
    const std::vector<double> truths{8.0, 10.0, 15.0};
    std::vector<fs::path> runs;
    for (std::size_t r = 0; r < truths.size(); ++r)
        runs.push_back(written(scratch / ("set/run-" + std::to_string(r + 1)), r + 1, truths[r]));
    const testing::Outcome outcome = testing::analyse(scratch / "set");
    INFO(outcome.out, outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(outcome.out.find("3 runs") != std::string::npos);
    CHECK(outcome.out.find("from run to run") != std::string::npos);
    CHECK(outcome.out.find("homogeneity of runs, Welch's test: p ") != std::string::npos);

    // 8, 10, 15: mean 11; standard deviation sqrt(13); half width 4.3027 x sqrt(13 / 3) = 8.96.
    const nlohmann::json verdict = read(scratch / "set/report/verdict.json");
    const nlohmann::json& mem = verdict["factors"]["mem"];
    CHECK(member(mem, "effect_percent") == doctest::Approx(11.0).epsilon(0.05));
    CHECK(member(mem, "half_width_percent") == doctest::Approx(8.96).epsilon(0.1));
    CHECK(mem["verdict"] == "unsafe");
    CHECK(verdict["pooled"]["unit"] == "run");
    CHECK(verdict["pooled"]["runs"].size() == 3);
    const nlohmann::json& effect = verdict["pooled"]["effects"][0];
    CHECK(effect["factor"] == "mem");
    CHECK(member(effect, "between_runs_percent") == doctest::Approx(std::sqrt(13.0)).epsilon(0.1));
    CHECK(member(effect, "p_alike") < 0.01);
    CHECK(member(effect["prediction"], "high_percent") > member(mem, "high_percent"));
    CHECK(effect["runs"].size() == 3);

    const base::CsvTable table{scratch / "set/report/runs.csv"};
    CHECK(table.rows() == 3 * 4);
    const base::CsvTable differences{scratch / "set/report/differences.csv"};
    CHECK(differences.has("differs"));
    const std::string page = base::read_whole(scratch / "set/report/index.html");
    CHECK(page.find("run-3") != std::string::npos);
    CHECK(page.find("CPUs of the noise") != std::string::npos);
    CHECK(page.find("include variation from run to run") != std::string::npos);
}

TEST_CASE("parts that were added to a run are strata with the block as the unit")
{
    const testing::Scratch scratch;
    const fs::path run = written(scratch / "run", 1, 10.0);
    written(scratch / "run/part-2", 2, 10.0);
    REQUIRE(testing::analyse(run, {"--out", (scratch / "first").string()}).status == 0);
    const nlohmann::json verdict = read(scratch / "first/verdict.json");
    const nlohmann::json& mem = verdict["factors"]["mem"];
    CHECK(verdict["pooled"]["unit"] == "block");
    CHECK(verdict["pooled"]["runs"][0]["parts"].size() == 2);
    CHECK(verdict["pooled"]["effects"][0]["between_runs_percent"].is_null());
    CHECK(member(mem, "effect_percent") == doctest::Approx(10.0).epsilon(0.05));
    // The interval of two parts is narrower than that of one, by the square root of two, and further by Student's t.
    fs::rename(run / "part-2", scratch / "other");
    REQUIRE(testing::analyse(run).status == 0);
    const nlohmann::json alone = testing::verdict_in(run);
    CHECK(member(mem, "half_width_percent") < 0.85 * member(alone["factors"]["mem"], "half_width_percent"));
    CHECK_FALSE(alone.contains("pooled"));
}

TEST_CASE("what are no runs of one design is refused in one line")
{
    const testing::Scratch scratch;
    const fs::path first = written(scratch / "a", 1, 10.0);
    const auto refused = [&](const fs::path& other, const std::string& why) {
        const testing::Outcome outcome = pooled({first, other}, scratch / "out");
        CHECK(outcome.status == 2);
        CHECK(testing::one_line(outcome.err));
        CHECK_MESSAGE(outcome.err.find(why) != std::string::npos, outcome.err);
        CHECK_FALSE(fs::exists(scratch / "out"));
    };
    fs::copy(first, scratch / "copy", fs::copy_options::recursive);
    refused(scratch / "copy", "are the same run");
    refused(first, "are the same run");

    const fs::path model = written(scratch / "model", 2, 10.0);
    base::write_whole(model / "train/run.json", R"({"training": {"model": "resnet18"}})");
    refused(model, "models 'mlp' and 'resnet18'");

    SyntheticRun what;
    what.run_s = 6.0;
    what.seed = 3;
    what.noise.insert(what.noise.begin() + 1, {"io", "io.write", "load", 4.0, -1});
    analysis::testing::write_run(scratch / "design", what);
    refused(scratch / "design", "are no runs of one design");

    what = {};
    what.run_s = 6.0;
    what.seed = 4;
    what.ranks = 1;
    analysis::testing::write_run(scratch / "ranks", what);
    refused(scratch / "ranks", "ranks '2' and '1'");
}

TEST_CASE("a part that shows something against itself is named and one that is short is not held against the whole")
{
    const testing::Scratch scratch;
    const fs::path first = written(scratch / "a", 1, 10.0);
    SyntheticRun what;
    what.run_s = 6.0;
    what.seed = 2;
    what.connected = false;
    analysis::testing::write_run(scratch / "b", what);
    base::write_whole(scratch / "b/train/run.json", R"({"training": {"model": "mlp"}})");
    const testing::Outcome outcome = pooled({first, scratch / "b"}, scratch / "out");
    INFO(outcome.err);
    CHECK(outcome.status == 0);
    const nlohmann::json verdict = read(scratch / "out/verdict.json");
    CHECK(verdict["trustworthy"] == false);
    REQUIRE(verdict["reasons"].size() >= 1);
    CHECK(verdict["reasons"][0].get<std::string>().starts_with("b: "));
}

TEST_CASE("a limit of one run only is told with its name")
{
    const testing::Scratch scratch;
    const fs::path first = written(scratch / "a", 1, 10.0);
    const fs::path second = written(scratch / "b", 2, 10.0);
    base::write_whole(second / "train/run.json", R"({"training": {"model": "mlp"}, "result": {"each_rank":
        [{"rank": 0, "host": "here", "cpus": "0"}, {"rank": 1, "host": "here", "cpus": "0"}]}})");
    REQUIRE(pooled({first, second}, scratch / "out").status == 0);
    const nlohmann::json limits = read(scratch / "out/verdict.json").at("limits");
    CHECK_MESSAGE(std::any_of(limits.begin(), limits.end(),
                              [](const nlohmann::json& limit) {
                                  return limit.get<std::string>().starts_with("b: ranks 0, 1 share one CPU of here");
                              }),
                  limits.dump());
}

TEST_CASE("a part too short for an interval of its own is left out and named")
{
    const testing::Scratch scratch;
    SyntheticRun what;
    what.run_s = 1.2;
    analysis::testing::write_run(scratch / "short", what);
    const fs::path first = written(scratch / "a", 1, 10.0);
    const fs::path second = written(scratch / "b", 2, 12.0);
    const testing::Outcome of_two = pooled({scratch / "short", first, second}, scratch / "two");
    CHECK_MESSAGE(of_two.status == 0, of_two.err);
    CHECK(of_two.out.find("left out is short: ") != std::string::npos);
    CHECK(of_two.out.find("\n2 runs") != std::string::npos);
    const testing::Outcome of_one = pooled({scratch / "short", first}, scratch / "one");
    CHECK_MESSAGE(of_one.status == 0, of_one.err);
    CHECK(of_one.out.find("left out is short: ") != std::string::npos);
    const testing::Outcome of_none = pooled({scratch / "short", scratch / "short"}, scratch / "none");
    CHECK(of_none.status == 1);
    CHECK(testing::one_line(of_none.err));
}

TEST_CASE("a run that was ended at a look has intervals that hold at all looks, narrower ones at its planned end")
{
    const testing::Scratch scratch;
    SyntheticRun what;
    what.run_s = 16.0;
    analysis::testing::write_run(scratch / "run", what);
    REQUIRE(testing::analyse(scratch / "run", {"--out", (scratch / "fixed").string()}).status == 0);
    base::write_whole(scratch / "run/request.json", R"({"format": 1, "until": "decided"})");
    REQUIRE(testing::analyse(scratch / "run").status == 0);
    CAPTURE(base::read_whole(scratch / "run/report/verdict.json").substr(0, 3000));
    const double fixed = member(read(scratch / "fixed/verdict.json")["factors"]["mem"], "half_width_percent");
    const double looked = member(testing::verdict_in(scratch / "run")["factors"]["mem"], "half_width_percent");
    CHECK(looked > 1.3 * fixed);
    CHECK(looked < 2.0 * fixed);
    CHECK(base::read_whole(scratch / "run/report/index.html").find("valid at every check") != std::string::npos);

    // At the planned end Student's t at 97.5 % takes the place of 95 %: with 9 to 60 degrees of freedom 1.15 to 1.19.
    base::write_whole(scratch / "run/request.json", R"({"format": 1, "until": "decided", "reached_its_end": true})");
    REQUIRE(testing::analyse(scratch / "run", {"--out", (scratch / "ended").string()}).status == 0);
    const auto verdict = read(scratch / "ended/verdict.json");
    const double at_the_end = member(verdict["factors"]["mem"], "half_width_percent");
    CHECK(at_the_end > 1.1 * fixed);
    CHECK(at_the_end < 1.25 * fixed);
    CHECK(verdict["stopping"]["reached_its_end"] == true);
}
