// SPDX-License-Identifier: Apache-2.0
// Several runs of one design: their response curve, the parts of their slowdown, and all their steps. Expected numbers
// are derived on paper.
#include "base/csv.hpp"
#include "base/files.hpp"
#include "testing/interference_runs.hpp"
#include "testing/synthetic_run.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

using analysis::testing::SyntheticRun;
namespace fs = std::filesystem;

namespace {

constexpr double bytes_of_gib = 1073741824.0;

// Writes a run whose noise costs nothing at 2 GiB/s, and these percentages at 4 and 16 GiB/s.
void write_levels(const fs::path& folder, std::uint64_t seed, double at_4, double at_16)
{
    SyntheticRun run;
    run.run_s = 16.0;
    run.seed = seed;
    run.deviation = 0.002;
    run.noise.erase(run.noise.begin());
    run.noise.insert(run.noise.begin(), {{"mem", "memory.stream", "", 0.0, -1, "rate=2GiB/s"},
                                         {"mem", "memory.stream", "backward", at_4, -1, "rate=4GiB/s"},
                                         {"mem", "memory.stream", "backward", at_16, -1, "rate=16GiB/s"}});
    analysis::testing::write_run(folder, run);
}

// Writes a run in which rank 1 computes longer in backward, by a percentage of the step.
void write_late_rank(const fs::path& folder, std::uint64_t seed, double percent)
{
    SyntheticRun run;
    run.run_s = 6.0;
    run.seed = seed;
    run.noise[0].percent = percent;
    run.noise[0].rank = 1;
    analysis::testing::write_run(folder, run);
}

std::string run_name(std::size_t number)
{
    return "run-" + std::to_string(number);
}

double number(const base::CsvTable& table, std::size_t row, const char* column)
{
    return std::stod(std::string{table.text(row, column)});
}

}  // namespace

TEST_CASE("runs with levels give one curve whose intervals include variation from run to run")
{
    const testing::Scratch scratch;
    write_levels(scratch / "set/run-1", 1, 3.0, 10.0);
    write_levels(scratch / "set/run-2", 2, 4.0, 12.0);
    write_levels(scratch / "set/run-3", 3, 5.0, 14.0);
    const testing::Outcome outcome = testing::analyse(scratch / "set", {"--budget", "2%"});
    INFO(outcome.out, outcome.err);
    REQUIRE(outcome.status == 0);

    const base::CsvTable curve{scratch / "set/report/response.csv"};
    REQUIRE(curve.rows() == 3);
    CHECK(curve.text(2, "level") == "rate=16GiB/s");
    // Effects 10, 12, 14: mean 12, standard deviation 2; half width 4.3027 x 2 / sqrt(3) = 4.97.
    CHECK(number(curve, 2, "effect_percent") == doctest::Approx(12.0).epsilon(0.03));
    CHECK(number(curve, 2, "high_percent") - number(curve, 2, "low_percent") ==
          doctest::Approx(2.0 * 4.97).epsilon(0.1));
    // Effects 3, 4, 5: mean 4, half width 4.3027 / sqrt(3) = 2.484.
    CHECK(number(curve, 1, "effect_percent") == doctest::Approx(4.0).epsilon(0.05));
    CHECK(number(curve, 1, "fitted_percent") == doctest::Approx(4.0).epsilon(0.05));

    // At a share s of the way from 2 to 4 GiB/s the effect is 4 s ± 2.484 s: 2 % at s = 1/2. At a share q of the way
    // from 4 to 16 GiB/s it is 4 + 8 q ± 2.484 (1 + q): above 2 % from q = 0.484 / 5.516 on.
    const auto mem = testing::verdict_in(scratch / "set").at("factors").at("mem");
    CHECK(mem.at("tolerated_level").get<double>() / bytes_of_gib == doctest::Approx(3.0).epsilon(0.03));
    CHECK(mem.at("tolerated_level_low").get<double>() / bytes_of_gib == doctest::Approx(2.0));
    CHECK(mem.at("tolerated_level_high").get<double>() / bytes_of_gib == doctest::Approx(5.05).epsilon(0.06));
    CHECK(mem.at("break_level").get<double>() / bytes_of_gib == doctest::Approx(4.0));

    const std::string page = base::read_whole(scratch / "set/report/index.html");
    CHECK(page.find("mem is safe up to 2 GiB/s, the highest level that is") != std::string::npos);
    CHECK(page.find("response.csv") != std::string::npos);
    CHECK(outcome.out.find("mem is safe up to 2 GiB/s, the highest level that is") != std::string::npos);
}

TEST_CASE("the parts of a run give one curve with the block as the unit")
{
    const testing::Scratch scratch;
    write_levels(scratch / "run", 1, 4.0, 12.0);
    write_levels(scratch / "run/part-2", 2, 4.0, 12.0);
    REQUIRE(testing::analyse(scratch / "run", {"--budget", "2%"}).status == 0);
    const base::CsvTable curve{scratch / "run/report/response.csv"};
    CHECK(number(curve, 2, "effect_percent") == doctest::Approx(12.0).epsilon(0.03));
    const auto both = testing::verdict_in(scratch / "run").at("factors").at("mem");
    CHECK(both.at("tolerated_level_low").get<double>() / bytes_of_gib == doctest::Approx(2.0));
    CHECK(both.at("tolerated_level_high").get<double>() / bytes_of_gib < 3.2);
}

TEST_CASE("what the slowdown of several runs is made of adds up, for all and for each")
{
    const testing::Scratch scratch;
    const std::vector<double> truths{8.0, 10.0, 15.0};
    for (std::size_t r = 0; r < truths.size(); ++r)
        write_late_rank(scratch / "set" / run_name(r + 1), r + 1, truths[r]);
    const testing::Outcome outcome = testing::analyse(scratch / "set");
    INFO(outcome.out, outcome.err);
    REQUIRE(outcome.status == 0);

    const base::CsvTable parts{scratch / "set/report/decomposition.csv"};
    std::map<std::string, double> sums;
    std::map<std::string, double> own;
    for (std::size_t row = 0; row < parts.rows(); ++row) {
        if (parts.text(row, "factor") != "mem") continue;
        const std::string run{parts.text(row, "run")};
        sums[run] += number(parts, row, "effect_percent");
        if (parts.text(row, "part") == "own work") {
            own[run] = number(parts, row, "effect_percent");
            // 8, 10, 15: standard deviation sqrt(13); half width 4.3027 x sqrt(13 / 3) = 8.96.
            if (run == "all")
                CHECK(number(parts, row, "high_percent") - number(parts, row, "low_percent") ==
                      doctest::Approx(2.0 * 8.96).epsilon(0.1));
        }
    }
    REQUIRE(sums.size() == 4);
    CHECK(own["all"] == doctest::Approx(11.0).epsilon(0.05));
    for (std::size_t r = 0; r < truths.size(); ++r)
        CHECK(own[run_name(r + 1)] == doctest::Approx(truths[r]).epsilon(0.1));

    const base::CsvTable causes{scratch / "set/report/causes.csv"};
    std::set<std::string> named;
    for (std::size_t row = 0; row < causes.rows(); ++row) {
        if (causes.text(row, "factor") != "mem") continue;
        const std::string run{causes.text(row, "run")};
        named.insert(run);
        CHECK(causes.text(row, "critical_rank") == "1");
        CHECK(causes.text(row, "region") == "backward");
        CHECK(causes.text(row, "waiting_rank") == "0");
        CHECK(number(causes, row, "effect_percent") == doctest::Approx(sums[run]).epsilon(1e-9));
    }
    CHECK(named == std::set<std::string>{"all", "run-1", "run-2", "run-3"});
    const auto made_of = testing::verdict_in(scratch / "set").at("factors").at("mem").at("decomposition");
    CHECK(made_of.at("critical_rank") == 1);
    CHECK(outcome.out.find("rank 1 spends") != std::string::npos);
    const std::string page = base::read_whole(scratch / "set/report/index.html");
    CHECK(page.find("What the slowdown is made of") != std::string::npos);
    CHECK(page.find("rank 1, in backward") != std::string::npos);
}

TEST_CASE("each rank of each run has its row in the map of all steps")
{
    const testing::Scratch scratch;
    write_late_rank(scratch / "set/run-1", 1, 10.0);
    write_late_rank(scratch / "set/run-2", 2, 10.0);
    REQUIRE(testing::analyse(scratch / "set").status == 0);
    const base::CsvTable map{scratch / "set/report/heat_map.csv"};
    std::map<std::string, std::string> rows;  // run and rank, by row
    for (std::size_t row = 0; row < map.rows(); ++row)
        rows[std::string{map.text(row, "row")}] =
            std::string{map.text(row, "run")} + " " + std::string{map.text(row, "first_rank")};
    CHECK(rows ==
          std::map<std::string, std::string>{{"0", "run-1 0"}, {"1", "run-1 1"}, {"2", "run-2 0"}, {"3", "run-2 1"}});
    if (!fs::exists("/usr/bin/gnuplot")) return testing::skip("gnuplot is not installed");
    CHECK(base::read_whole(scratch / "set/report/index.html").find("heat_map.svg") != std::string::npos);
    CHECK(base::read_whole(scratch / "set/report/heat_map.svg").find("run-2, rank 1") != std::string::npos);
}
