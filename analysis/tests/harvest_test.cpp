// SPDX-License-Identifier: Apache-2.0
// Tests of the neighbour's throughput, against numbers by hand.
#include "analysis/sections/harvest/harvest.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "testing/interference_runs.hpp"
#include "testing/synthetic_run.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace {

using analysis::Harvested;

const std::string columns =
    "slot,block,position,factor,stressor,level,cpu,host,begin_ns,end_ns,requested,bytes,operations,"
    "requested_duty,duty,waited_ns,reached,role\n";

// A row of noise.csv: one second of a factor on one CPU.
std::string row(int slot, const std::string& factor, const std::string& level, int cpu, double bytes,
                const std::string& role = "treatment")
{
    return base::join(slot, ",0,0,", factor, ",x,", level, ",", cpu, ",here,", slot * 1'000'000'000LL, ",",
                      (slot + 1) * 1'000'000'000LL, ",0,", static_cast<long long>(bytes), ",7,1,1,0,1,", role, "\n");
}

const Harvested& of(const std::vector<Harvested>& all, const std::string& level)
{
    for (const Harvested& one : all)
        if (one.level == level) return one;
    throw base::Error{"no level " + level};
}

}  // namespace

TEST_CASE("speeds of all CPUs add up in a slot and shares are of means over slots")
{
    const testing::Scratch scratch;
    base::write_whole(scratch / "beside.csv",
                      columns + row(0, "io", "limit=none", 1, 60) + row(0, "io", "limit=none", 2, 40) +
                          row(1, "io", "limit=none", 1, 50) + row(1, "io", "limit=none", 2, 50) +
                          row(2, "io", "limit=io.max:9MiB/s", 1, 10) + row(2, "io", "limit=io.max:9MiB/s", 2, 10) +
                          row(3, "io", "limit=io.max:9MiB/s", 1, 20) + row(3, "io", "limit=io.max:9MiB/s", 2, 10) +
                          row(4, "placebo", "", 1, 0, "placebo"));
    base::write_whole(scratch / "empty.csv", columns + row(0, "io", "limit=none", 1, 100) +
                                                 row(0, "io", "limit=none", 2, 25) +
                                                 row(1, "io", "limit=none", 1, 125));
    const analysis::Harvests beside = analysis::read_harvests({scratch / "beside.csv"});
    CHECK(beside.cpus == 2);
    const auto all = analysis::harvested(beside, analysis::read_harvests({scratch / "empty.csv"}), 0.95);
    REQUIRE(all.size() == 2);  // factors without work have no speed
    CHECK(of(all, "limit=none").bytes);
    CHECK(of(all, "limit=none").per_s == doctest::Approx(100.0));
    CHECK(of(all, "limit=none").of_empty_node->percent == doctest::Approx(80.0));
    CHECK(of(all, "limit=none").of_empty_node->interval.half_width() == doctest::Approx(0.0));
    CHECK(!of(all, "limit=none").of_unlimited);
    // 20 and 30: mean 25, standard error 5, a fifth of the mean; Student's t with one degree of freedom is 12.706.
    const analysis::Share kept = *of(all, "limit=io.max:9MiB/s").of_unlimited;
    CHECK(kept.percent == doctest::Approx(25.0));
    CHECK(kept.interval.high == doctest::Approx(25.0 * std::exp(12.7062 / 5.0)).epsilon(1e-4));
    CHECK(!of(all, "limit=io.max:9MiB/s").of_empty_node);
}

TEST_CASE("noise of another number of CPUs is no measure")
{
    const testing::Scratch scratch;
    base::write_whole(scratch / "two.csv", columns + row(0, "io", "", 1, 60) + row(0, "io", "", 2, 40));
    base::write_whole(scratch / "one.csv", columns + row(0, "io", "", 1, 60));
    const analysis::Harvests two = analysis::read_harvests({scratch / "two.csv"});
    CHECK_THROWS_AS(analysis::harvested(two, analysis::read_harvests({scratch / "one.csv"}), 0.95), base::UsageError);
}

TEST_CASE("a report says what the neighbour had of an empty node and what a setting did")
{
    const testing::Scratch scratch;
    analysis::testing::SyntheticRun run;
    run.run_s = 20.0;
    run.noise[0].level = "limit=none";
    run.noise.insert(run.noise.begin(), {"mem", "memory.stream", "backward", 2.0, -1, "limit=cpu.max:10%"});
    analysis::testing::write_run(scratch / "run", run);
    const auto rows = [&](double unlimited, double limited) {
        std::string text = columns;
        for (int slot = 0; slot < 4; ++slot)
            text += row(slot, "mem", slot % 2 == 0 ? "limit=none" : "limit=cpu.max:10%", 3,
                        slot % 2 == 0 ? unlimited : limited);
        return text;
    };
    base::write_whole(scratch / "run/noise/here.0/noise.csv", rows(800, 200));
    base::write_whole(scratch / "run/noise/here.0/noise.json", R"({"host": "here"})");
    base::write_whole(scratch / "empty.csv", rows(1000, 500));
    const testing::Outcome outcome = testing::analyse(
        scratch / "run", {"--empty-node", (scratch / "empty.csv").string(), "--node-hour-cost", "2", "--budget", "4%"});
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    const std::string page = base::read_whole(scratch / "run/report/index.html");
    CHECK(page.find("neighbour 80") != std::string::npos);
    CHECK(page.find("With cpu.max:10%, mem costs") != std::string::npos);
    CHECK(page.find("the neighbour keeps 25") != std::string::npos);
    CHECK(page.find("Tried here: with cpu.max:10%") != std::string::npos);
    const auto harvest = testing::verdict_in(scratch / "run").at("harvest");
    REQUIRE(harvest.size() == 2);
    for (const auto& one : harvest)
        if (one.at("level") == "limit=none") {
            CHECK(one.at("of_empty_node").at("percent").get<double>() == doctest::Approx(80.0));
            // A slowdown of 10 % is 9.09 % less speed, which costs 0.18 at a price of 2.
            CHECK(one.at("training_loses_per_node_hour").get<double>() == doctest::Approx(0.18).epsilon(0.05));
        }
    CHECK(testing::analyse(scratch / "run",
                           {"--empty-node", (scratch / "nowhere").string(), "--out", (scratch / "other").string()})
              .status == 1);
}

TEST_CASE("rare work of the neighbour is stated by the hour in units of its label")
{
    const testing::Scratch scratch;
    analysis::testing::SyntheticRun run;
    run.run_s = 20.0;
    analysis::testing::write_run(scratch / "run", run);
    const auto rows = [&](int slots) {
        std::string text = columns;
        for (int slot = 0; slot < slots; ++slot) text += row(slot, run.noise[0].label, run.noise[0].level, 3, 0);
        return text;
    };
    base::write_whole(scratch / "run/noise/here.0/noise.csv", rows(4));
    base::write_whole(scratch / "run/noise/here.0/noise.json", R"({"host": "here"})");
    base::write_whole(scratch / "empty.csv", rows(2));
    const testing::Outcome outcome =
        testing::analyse(scratch / "run", {"--empty-node", (scratch / "empty.csv").string()});
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    // Seven operations a second are 25,200 an hour.
    CHECK(outcome.out.find(" %), neighbour 25200 " + run.noise[0].label + "/h, 100 % (100 to 100 %) of its speed") !=
          std::string::npos);
}

TEST_CASE("several runs have a speed each and the parts of one run have those of all slots")
{
    const testing::Scratch scratch;
    const auto slots = [&](double first, double second) {
        base::write_whole(scratch / "rows.csv",
                          columns + row(0, "io", "limit=none", 1, first) + row(1, "io", "limit=none", 1, second));
        return analysis::read_harvests({scratch / "rows.csv"});
    };
    const std::pair<std::string, std::string> io{"io", "limit=none"};
    const analysis::Harvests runs = analysis::harvests_of_all({{slots(90, 110)}, {slots(40, 60)}});
    CHECK(runs.levels.at(io).per_s == std::vector<double>{100, 50});
    CHECK(runs.cpus == 1);
    const analysis::Harvests parts = analysis::harvests_of_all({{slots(90, 110), slots(40, 60)}});
    CHECK(parts.levels.at(io).per_s == std::vector<double>{90, 110, 40, 60});
    const analysis::Harvests none = analysis::harvests_of_all({{slots(90, 110)}, {slots(0, 0)}});
    CHECK(none.levels.empty());
}

TEST_CASE("a report of several runs says what the neighbour had of an empty node and what a setting did")
{
    const testing::Scratch scratch;
    const auto rows = [&](double unlimited, double limited) {
        std::string text = columns;
        for (int slot = 0; slot < 8; ++slot)
            text += row(slot, "mem", slot % 2 == 0 ? "limit=none" : "limit=cpu.max:10%", 3,
                        slot % 2 == 0 ? unlimited : limited);
        return text;
    };
    for (const int number : {1, 2, 3}) {
        analysis::testing::SyntheticRun run;
        run.run_s = 20.0;
        run.seed = static_cast<std::uint64_t>(number);
        run.noise[0].level = "limit=none";
        run.noise.insert(run.noise.begin(), {"mem", "memory.stream", "backward", 2.0, -1, "limit=cpu.max:10%"});
        const auto directory = scratch / "set" / base::join("run-", number);
        analysis::testing::write_run(directory, run);
        base::write_whole(directory / "noise/here.0/noise.csv", rows(700 + 50 * number, 200));
        base::write_whole(directory / "noise/here.0/noise.json", R"({"host": "here"})");
    }
    base::write_whole(scratch / "empty.csv", rows(1000, 500));
    const testing::Outcome outcome = testing::analyse(
        scratch / "set", {"--empty-node", (scratch / "empty.csv").string(), "--node-hour-cost", "2", "--budget", "4%"});
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    // 750, 800, 850 of 1000: mean 80 %; standard error 50 / sqrt(3), 3.6 % of 800; times 4.303: 15.5 %.
    CHECK(outcome.out.find("neighbour 80 % (68 to 93 %) of its speed on an empty node") != std::string::npos);
    const std::string page = base::read_whole(scratch / "set/report/index.html");
    CHECK(page.find("With cpu.max:10%, mem costs") != std::string::npos);
    CHECK(page.find("the neighbour keeps 25") != std::string::npos);
    CHECK(page.find("Tried here: with cpu.max:10%") != std::string::npos);
    CHECK(page.find("harvest.csv") != std::string::npos);
    CHECK(testing::verdict_in(scratch / "set").at("harvest").size() == 2);
}
