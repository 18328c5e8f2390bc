// SPDX-License-Identifier: Apache-2.0
// Trials of several strategies, moments, models and guards; expected values are by hand.
#include "analysis/outcomes/maps.hpp"
#include "analysis/outcomes/stored.hpp"
#include "analysis/outcomes/tables.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "testing/outcome_trials.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <set>
#include <sstream>

using analysis::testing::band;
using analysis::testing::Bits;
using analysis::testing::class_of;
using analysis::testing::degraded;
using analysis::testing::ended;
using analysis::testing::moment;
using analysis::testing::report_of;
using analysis::testing::run_of;
using analysis::testing::steps;

TEST_CASE("trials that have not ended are classed as those that have, and a seed makes one training of a band")
{
    const testing::Scratch scratch;
    const auto write = [&](const std::string& name, const std::string& text) {
        std::filesystem::create_directories((scratch / name).parent_path());
        base::write_whole(scratch / name, text);
    };
    write("train/trials.csv",
          "trial,block,kind,step,location,bits,count,target,rank,guard,steps,seed\n"
          "a,1,trial,5,,1,1,model,all,none,5,1\nb,1,trial,5,,1,1,model,all,none,5,2\n");
    write("train/outcomes.csv",
          "trial,kind,strategy,rank,step,path,bits,guard,class,accuracy,loss,first_difference,caught,checksum,"
          "state_checksum,index,drawn_from,accuracies,largest,not_finite,steps,seconds\n"
          "a,trial,ddp,all,5,model/w,1,none,ended,0.9,0.1,,,a,a,0,10,0:0.9 5:0.9,1,0,5,0.1\n");
    const std::string begin = R"({"ranks": 1, "training": {"model": "mlp", "strategy": "ddp", "seed": 1,
        "shape": {"kind": "image", "classes": 10})";
    write("train/run.json", begin + R"(}, "result": null})");
    CHECK_THROWS_WITH_AS(analysis::read_trial_run(scratch.path()), doctest::Contains("have not ended"), base::Error);
    write("train/run.json", begin + R"(, "held_out": 100}, "result": null})");
    CHECK(analysis::read_trial_run(scratch.path()).held_out == 100);
    for (const char* seed : {"s1", "s2"})
        write(std::string{seed} + "/train/run.json",
              begin + R"(}, "result": {"first_step": 0, "steps": 10, "accuracy": 0.9}})");
    CHECK_THROWS_WITH_AS(analysis::read_bands({scratch / "s1", scratch / "s2"}), doctest::Contains("used twice"),
                         base::Error);
}

TEST_CASE("two strategies are compared on the trials of both")
{
    analysis::TrialRun ddp = run_of({ended(0.5, "0:0.8"), ended(0.95, "0:0.8"), ended(0.5, "0:0.8")});
    analysis::TrialRun cycle = run_of({ended(0.95, "0:0.8"), ended(0.95, "0:0.8"), ended(0.5, "0:0.8")});
    cycle.strategy = "cycle";
    const auto report =
        analysis::outcome_report({ddp, cycle}, band(), analysis::ProportionInterval::wilson, std::nullopt);
    REQUIRE(report.comparisons.size() == 1);
    CHECK(report.comparisons[0].pairs == 3);
    CHECK(report.comparisons[0].only_first == 0);  // ruined with cycle only
    CHECK(report.comparisons[0].only_second == 1);
    CHECK(report.comparisons[0].p == 1.0);
}

TEST_CASE("a rate of bit errors says how many runs are ruined")
{
    // One of four trials is ruined. 2^20 bits, 4e6 failures in 1e9 h: 4 flips in 1,000 h, of which one ruins a run.
    analysis::TrialRun run =
        run_of({ended(0.5, "0:0.8"), ended(0.95, "0:0.8"), ended(0.95, "0:0.8"), ended(0.95, "0:0.8")});
    for (base::Outcome& one : run.outcomes) one.drawn_from = 1048576.0;
    const auto report = analysis::outcome_report({run}, band(), analysis::ProportionInterval::wilson,
                                                 analysis::ErrorRate{.per_mbit = 4e6, .run_hours = 24.0});
    REQUIRE(report.ruined.size() == 1);
    CHECK(report.ruined[0].flips == doctest::Approx(4.0));
    CHECK(report.ruined[0].ruined == doctest::Approx(1.0));
}

TEST_CASE("stored weights are points of curves, and no flips among those of the maps")
{
    analysis::TrialRun run = run_of({});
    for (const double accuracy : {0.80, 0.90, 1.00, 0.95}) {
        base::Outcome one = ended(accuracy, "0:0.8");
        one.trial = "s" + std::to_string(run.trials.size());
        one.kind = base::trial_kind::stored;
        one.flipped = 6;
        one.detected = 2;
        run.outcomes.push_back(one);
        run.trials.push_back({.name = one.trial,
                              .kind = one.kind,
                              .step = moment,
                              .steps = steps,
                              .store = "int8",
                              .detect = "parity",
                              .rate = accuracy == 0.95 ? 1e-6 : 1e-3,
                              .reads = "once"});
    }
    const auto report = analysis::outcome_report({run}, band(), analysis::ProportionInterval::wilson, std::nullopt);
    CHECK(report.shares.empty());
    const std::vector<analysis::StoredPoint> points = analysis::stored_points(report);
    REQUIRE(points.size() == 2);
    CHECK(points[0].rate == 1e-6);
    CHECK(points[0].interval.high == 1.0);  // a single trial has no information
    CHECK(points[1].trials == 3);
    CHECK(points[1].ruined == 1);  // 0.80 is below the band's 0.90
    // Mean 0.9, deviation 0.1: 0.9 - 4.30265 x 0.1 / sqrt(3), t with two degrees of freedom; at most 1.
    CHECK(points[1].accuracy == doctest::Approx(0.9));
    CHECK(points[1].interval.low == doctest::Approx(0.651587).epsilon(1e-4));
    CHECK(points[1].interval.high == 1.0);
    CHECK(points[1].flipped == doctest::Approx(6.0));
    const testing::Scratch scratch;
    analysis::write_outcomes(scratch / "report", report);
    const base::CsvTable table{scratch / "report/stored.csv"};
    REQUIRE(table.rows() == 2);
    CHECK(table.text(1, "model") == "mlp");
    CHECK(table.get<double>(1, "accuracy") == doctest::Approx(0.9));
    const std::string page = base::read_whole(scratch / "report/index.html");
    for (const char* text :
         {"href=\"stored.gp\"", "of 2 undisturbed trainings of mlp with 18 steps 93.0 to 95.0", "below 90.0"})
        CHECK_MESSAGE(page.find(text) != std::string::npos, text);
    if (!std::filesystem::exists("/usr/bin/gnuplot")) return testing::skip("gnuplot is not installed");
    const std::string drawn = base::read_whole(scratch / "report/stored.svg");
    for (const char* text : {"1e−6", "bit error rate of a read", "mlp, ddp", "read once, detection parity", ">int8<"})
        CHECK_MESSAGE(drawn.find(text) != std::string::npos, text);
}

namespace {

// Null trials of 2 s without a guard, each followed by one with the guard "range" that takes so many times as long.
analysis::TrialRun priced(const std::vector<double>& ratios)
{
    std::vector<base::Outcome> nulls;
    for (const double ratio : ratios)
        for (const bool guarded : {false, true}) {
            base::Outcome null = ended(0.95, "0:0.80 8:0.95");
            null.kind = base::trial_kind::null;
            null.what = base::outcome_class::masked;
            null.guard = guarded ? "range" : "none";
            null.seconds = guarded ? 2.0 * ratio : 2.0;
            nulls.push_back(null);
        }
    nulls.push_back(ended(0.5, "0:0.80"));
    analysis::TrialRun run = run_of(nulls);
    run.trials.erase(run.trials.begin());  // removes the null trial without a time
    run.outcomes.erase(run.outcomes.begin());
    for (std::size_t i = 0; i < run.trials.size(); ++i) run.trials[i].guard = run.outcomes[i].guard;
    return run;
}

}  // namespace

TEST_CASE("a crashed null trial does not make its guard look free")
{
    analysis::TrialRun run = priced({1.1, 0.0, 1.2});
    run.outcomes[3].what = base::outcome_class::crashed;
    const auto report = analysis::outcome_report({run}, band(), analysis::ProportionInterval::wilson, std::nullopt);
    REQUIRE(report.guards.size() == 2);
    CHECK(report.guards[1].cost_percent->value == doctest::Approx(15.0));
}

TEST_CASE("a guard is priced by null trials, in quiet and beside noise, which counts for nothing else")
{
    analysis::TrialRun noisy = priced({1.5, 1.7});
    noisy.noise = "memory.stream 1s";
    const auto report = analysis::outcome_report({priced({1.1, 1.2}), noisy}, band(),
                                                 analysis::ProportionInterval::wilson, std::nullopt);
    REQUIRE(report.guards.size() == 2);
    CHECK(report.guards[1].guard == "range");
    CHECK(report.guards[1].cost_percent->value == doctest::Approx(15.0));
    CHECK(report.guards[1].noisy_cost_percent->value == doctest::Approx(60.0));
    CHECK(report.guards[1].caught.trials == 0);  // no information
    CHECK(report.guards[1].caught.percent_interval.high == 100.0);
    CHECK(report.guards[0].ruined.trials == 1);
    CHECK(report.noise == "memory.stream 1s");
}

TEST_CASE("several flips in one tensor stand apart from one flip in it")
{
    std::vector<base::Outcome> outcomes(12, ended(0.95, "0:0.80 8:0.95"));
    for (const std::size_t ruined : {0, 10, 11}) outcomes[ruined].accuracy = 0.5;
    analysis::TrialRun run = run_of(outcomes);
    for (const std::size_t number : {12, 13}) run.trials[number].count = 24;
    const auto report = analysis::outcome_report({run}, band(), analysis::ProportionInterval::wilson, std::nullopt);
    const auto rows = analysis::layer_map(report);
    REQUIRE(rows.size() == 2);
    CHECK(analysis::label(rows[0]) == "model/layers.0.weight");
    CHECK(rows[0].ruined.percent == doctest::Approx(10.0));
    CHECK(analysis::label(rows[1]) == "several, 24 flips");
    CHECK(rows[1].ruined.percent == doctest::Approx(100.0));
    for (const analysis::ClassShare& share : report.shares)
        if (share.what == "degraded" && share.flips != 0) CHECK(share.percent == (share.flips == 1 ? 10.0 : 100.0));
}

TEST_CASE("a guard is worth its time or not by what single flips do")
{
    // One flip ruins none of 20 trainings (0 to 16.1 %), 24 flips ruin all of 20. There are 12.5 flips in 1,000 hours,
    // and a ruined run loses 24 hours: at most 0.3 x 16.1 % = 4.8 % of the time, while the guard takes 10 %.
    std::vector<base::Outcome> outcomes(44, ended(0.95, "0:0.80 8:0.95"));
    for (std::size_t i = 20; i < 40; ++i) outcomes[i].accuracy = 0.5;
    for (std::size_t i = 40; i < 44; ++i) {
        outcomes[i].kind = base::trial_kind::null;
        outcomes[i].what = base::outcome_class::masked;
        outcomes[i].seconds = i % 2 == 0 ? 2.0 : 2.2;
    }
    for (const base::Outcome& trial : std::vector(20, ended(0.95, "0:0.80 8:0.95"))) outcomes.push_back(trial);
    analysis::TrialRun run = run_of(outcomes);
    run.trials.erase(run.trials.begin());  // removes the null trial without a time
    run.outcomes.erase(run.outcomes.begin());
    for (std::size_t i = 1; i < run.trials.size(); ++i) {
        if (i > 20 && i <= 40) run.trials[i].count = 24;
        if (i > 44 || run.outcomes[i].seconds == 2.2) run.trials[i].guard = "range";
    }
    const auto report = analysis::outcome_report({run}, band(), analysis::ProportionInterval::wilson,
                                                 analysis::ErrorRate{.per_mbit = 12.5 * 1048576 / 1e-4});
    REQUIRE(report.guards.size() == 2);
    CHECK(report.guards[1].worth == "not worth");
}

TEST_CASE("how late a guard catches is a mean with an interval")
{
    analysis::TrialRun run = run_of({ended(0.95, "0:0.8"), ended(0.95, "0:0.8"), ended(0.95, "0:0.8")});
    for (std::size_t i = 2; i < 5; ++i) {
        run.trials[i].guard = "range";
        run.outcomes[i].caught = std::to_string(i - 2);
    }
    const auto report = analysis::outcome_report({run}, band(), analysis::ProportionInterval::wilson, std::nullopt);
    REQUIRE(report.guards.size() == 2);
    CHECK(report.guards[1].latency == doctest::Approx(1.0));
    // 1 +- 4.30265 x 1 / sqrt(3), t with two degrees of freedom; never before the flip.
    REQUIRE(report.guards[1].latency_interval);
    CHECK(report.guards[1].latency_interval->low == 0.0);
    CHECK(report.guards[1].latency_interval->high == doctest::Approx(3.48414).epsilon(1e-4));
}

TEST_CASE("each model has a band and curves of its own, and names its strategies")
{
    analysis::TrialRun gpt = run_of({ended(0.5, "0:0.4")});
    gpt.model = "gpt";
    const analysis::TrialRun mlp = run_of({ended(0.5, "0:0.8")});
    analysis::Bands bands = band();
    CHECK_THROWS_WITH_AS(analysis::classed(gpt, bands), doctest::Contains("trial t0 of gpt ends at step 18"),
                         base::Error);
    bands[{"gpt", moment + steps}] = {.accuracies = {0.45, 0.55}, .low = 0.40};
    const auto report = analysis::outcome_report({mlp, gpt}, bands, analysis::ProportionInterval::wilson, std::nullopt);
    CHECK(report.trials[2].what == "degraded");
    CHECK(report.trials[5].what == "tolerated");
    std::set<std::string> strategies;
    for (const analysis::ClassShare& share : report.shares) strategies.insert(share.strategy);
    CHECK(strategies == std::set<std::string>{"ddp of gpt", "ddp of mlp"});
}
