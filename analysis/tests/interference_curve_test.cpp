// SPDX-License-Identifier: Apache-2.0
// A noise with levels gives a response curve: in the tables, in verdict.json and on the page.
#include "base/csv.hpp"
#include "base/files.hpp"
#include "testing/interference_runs.hpp"
#include "testing/synthetic_run.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <string>

using analysis::testing::SyntheticNoise;
using analysis::testing::SyntheticRun;
using testing::analyse;
using testing::verdict_in;

namespace {

constexpr double gib_per_s = 1073741824.0;

// Noise that costs nothing at 2, 4 % at 4 and 12 % at 16 GiB/s.
std::vector<SyntheticNoise> three_levels()
{
    return {{"mem", "memory.stream", "backward", 12.0, -1, "rate=16GiB/s"},
            {"mem", "memory.stream", "", 0.0, -1, "rate=2GiB/s"},
            {"mem", "memory.stream", "backward", 4.0, -1, "rate=4GiB/s"}};
}

}  // namespace

TEST_CASE("levels of a noise give a curve with the level that the budget tolerates")
{
    const testing::Scratch scratch;
    SyntheticRun run;
    run.run_s = 30.0;
    std::vector<SyntheticNoise> noise = three_levels();
    noise.insert(noise.end(), run.noise.begin() + 1, run.noise.end());
    run.noise = noise;
    analysis::testing::write_run(scratch / "run", run);
    REQUIRE(analyse(scratch / "run", {"--budget", "2%"}).status == 0);
    const auto mem = verdict_in(scratch / "run").at("factors").at("mem");
    // The curve meets the budget on the line from 0 % at 2 GiB/s to 4 % at 4 GiB/s; of levels that ran, 2 GiB/s is
    // safe.
    CHECK(mem.at("tolerated_level").get<double>() / gib_per_s == doctest::Approx(3.0).epsilon(0.15));
    CHECK(mem.at("tolerated_level_low").get<double>() / gib_per_s == doctest::Approx(2.0));
    CHECK(mem.at("tolerated_level_high").get<double>() / gib_per_s < 4.0);
    CHECK(mem.at("break_level").get<double>() / gib_per_s == doctest::Approx(4.0));
    CHECK(mem.at("level_unit") == "bytes/s");
    CHECK(mem.at("level_is") == "asked");
    CHECK(mem.at("levels").at("rate=4GiB/s").at("detectable_percent").get<double>() > 0.0);

    const base::CsvTable curve{scratch / "run/report/response.csv"};
    REQUIRE(curve.rows() == 3);
    CHECK(curve.text(0, "level") == "rate=2GiB/s");  // ordered by amount, not as text
    CHECK(curve.text(2, "level") == "rate=16GiB/s");
    const base::CsvTable left{scratch / "run/report/carry_over.csv"};
    CHECK(left.rows() == 3);  // noises only; carry-over of controls is not estimated
    const std::string page = base::read_whole(scratch / "run/report/index.html");
    CHECK(page.find("mem is safe up to ") != std::string::npos);
    CHECK(page.find("Effect of a noise on the slots after it") != std::string::npos);
    CHECK(page.find("Tails and variability") != std::string::npos);
    if (!std::filesystem::exists("/usr/bin/gnuplot")) return testing::skip("gnuplot is not installed");
    CHECK(std::filesystem::exists(scratch / "run/report/response.svg"));
}

TEST_CASE("a curve without a safe level reaches the budget at most at its upper bound")
{
    const testing::Scratch scratch;
    SyntheticRun run;
    run.run_s = 30.0;
    std::vector<SyntheticNoise> noise = three_levels();
    noise.erase(noise.begin() + 1);  // the harmless one
    noise.insert(noise.end(), run.noise.begin() + 1, run.noise.end());
    run.noise = noise;
    analysis::testing::write_run(scratch / "run", run);
    const testing::Outcome outcome = analyse(scratch / "run", {"--budget", "2%"});
    REQUIRE(outcome.status == 0);
    INFO(outcome.out);
    CHECK(outcome.out.find("its curve reaches the budget at") != std::string::npos);
    CHECK(outcome.out.find("GiB/s (at most ") != std::string::npos);
}

TEST_CASE("doses of a curve are per second for which a level was assigned")
{
    // In each 10 s at a level, the noise spent 8 s on allocating memory, so rates of 2, 4 and 16 GiB/s while ready are
    // achieved only for a fifth of the time.
    const testing::Scratch scratch;
    SyntheticRun run;
    run.run_s = 30.0;
    run.noise = three_levels();
    analysis::testing::write_run(scratch / "run", run);
    nlohmann::json record{{"host", "node1"}, {"factor_levels", nlohmann::json::array()}};
    for (const double gib : {2.0, 4.0, 16.0})
        record["factor_levels"].push_back({{"factor", "mem"},
                                           {"level", "rate=" + std::to_string(static_cast<int>(gib)) + "GiB/s"},
                                           {"bytes_per_s", gib * gib_per_s},
                                           {"operations_per_s", 0.0},
                                           {"bytes", gib * gib_per_s * 2.0},
                                           {"operations", 0},
                                           {"on_s", 10.0},
                                           {"assigned_s", 10.0}});
    base::write_whole(scratch / "run/noise/here.0/noise.json", record.dump());
    REQUIRE(analyse(scratch / "run", {"--budget", "2%"}).status <= 3);
    const base::CsvTable curve{scratch / "run/report/response.csv"};
    REQUIRE(curve.rows() == 3);
    CHECK(curve.text(0, "dose_is") == "achieved");
    const std::array doses{0.4, 0.8, 3.2};
    for (std::size_t row = 0; row < doses.size(); ++row)
        CHECK(curve.get<double>(row, "dose") / gib_per_s == doctest::Approx(doses.at(row)));
}

TEST_CASE("a ramp that was run twice ends in a report with its curve")
{
    const testing::Scratch scratch;
    SyntheticRun run;
    run.noise = three_levels();
    run.design = "sequence";
    analysis::testing::write_run(scratch / "run", run);
    REQUIRE(analyse(scratch / "run", {"--budget", "2%"}).status == 0);
    const auto verdict = verdict_in(scratch / "run");
    CHECK(verdict.at("trustworthy") == false);  // the run has no controls
    CHECK(verdict.at("carry_over").empty());    // the order of slots does not separate carry-over
    CHECK(verdict.at("factors").at("mem").at("tolerated_level").get<double>() / gib_per_s ==
          doctest::Approx(3.0).epsilon(0.15));
    CHECK(base::read_whole(scratch / "run/report/index.html")
              .find("This run does not show up to which level mem is harmless") != std::string::npos);
}
