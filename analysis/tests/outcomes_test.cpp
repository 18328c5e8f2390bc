// SPDX-License-Identifier: Apache-2.0
// Tests of the classes of trials; expected values are by hand.
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

TEST_CASE("a trial below the band is degraded, one that guesses blindly has collapsed")
{
    CHECK(class_of(ended(0.89, "0:0.80 1:0.85 4:0.90 8:0.89")) == "degraded");
    CHECK(class_of(ended(0.14, "0:0.80 1:0.14 4:0.14 8:0.14")) == "collapsed");  // 0.1 + 3 sqrt(0.09 / 360) = 0.147
    CHECK(class_of(ended(0.15, "0:0.80 1:0.15 4:0.15 8:0.15")) == "degraded");
}

TEST_CASE("a trial that was worse for some steps has recovered, and after how many is known")
{
    CHECK(class_of(ended(0.94, "0:0.80 1:0.85 4:0.90 8:0.94")) == "tolerated");
    const auto trials = analysis::classed(run_of({ended(0.94, "0:0.40 1:0.60 4:0.88 8:0.94")}), band());
    CHECK(trials.back().what == "recovered");
    CHECK(trials.back().recovered_after == 4);
    CHECK(trials.back().worse_until == 1);
}

TEST_CASE("a huge value that stays in a good training is latent")
{
    CHECK(class_of(ended(0.95, "0:0.80 8:0.95", 2001.0)) == "latent");
    CHECK(class_of(ended(0.95, "0:0.80 8:0.95", 1999.0)) == "tolerated");
    base::Outcome infinite = ended(0.95, "0:0.80 8:0.95");
    infinite.not_finite = 1;
    CHECK(class_of(infinite) == "latent");
}

TEST_CASE("strata count by their bits, not by their trials")
{
    // With 900 bits one trial in ten is ruined, with 100 other bits nine in ten: 0.9 x 10 % + 0.1 x 90 % = 18 %.
    analysis::TrialRun run = run_of({});
    for (int i = 0; i < 20; ++i) {
        const bool large = i < 10;
        const bool ruined = large ? i == 0 : i != 19;
        base::Outcome one = ended(ruined ? 0.5 : 0.95, "0:0.80 8:0.95");
        one.trial = "s" + std::to_string(i);
        one.drawn_from = large ? 900.0 : 100.0;
        run.outcomes.push_back(one);
        run.trials.push_back(
            {.name = one.trial, .step = moment, .location = large ? "large" : "small", .steps = steps});
    }
    const auto trials = analysis::classed(run, band());
    for (const analysis::ClassShare& share : analysis::class_shares(trials, analysis::ProportionInterval::wilson)) {
        if (share.location != "all" || share.bit != "all" || share.what != "degraded") continue;
        CHECK(share.percent == doctest::Approx(18.0));
        CHECK(share.count == 10);
        CHECK(share.trials == 20);
        // Kish: (10 x 90 + 10 x 10)^2 / (10 x 90^2 + 10 x 10^2) = 12.195 trials; Wilson's interval for 18 % of them.
        const base::Interval by_hand = base::wilson(0.18 * 12.19512, 12.19512, 0.95);
        CHECK(share.percent_interval.low == doctest::Approx(100.0 * by_hand.low));
    }
}

TEST_CASE("a bit that two strata hold counts once")
{
    // 100 numbers of 32 bits. 64 trials draw from all bits, 2 from each; 8 more draw from bit 1, which always ruins.
    // All flips are equally likely, so 1 of 32 ruins, however often bit 1 was tried.
    analysis::TrialRun run = run_of({});
    const auto add = [&](int bit, const char* bits, double from) {
        base::Outcome one = ended(bit == 1 ? 0.5 : 0.95, "0:0.80 8:0.95");
        one.trial = "s" + std::to_string(run.trials.size());
        one.bits = std::to_string(bit);
        one.drawn_from = from;
        run.outcomes.push_back(one);
        run.trials.push_back({.name = one.trial, .step = moment, .bits = bits, .steps = steps});
    };
    for (int i = 0; i < 64; ++i) add(i % 32, "0-31", 3200.0);
    for (int i = 0; i < 8; ++i) add(1, "1", 100.0);
    const auto report = analysis::outcome_report({run}, band(), analysis::ProportionInterval::wilson,
                                                 analysis::ErrorRate{.per_mbit = 1e9 / 3200 * 1048576 / 1000});
    for (const analysis::ClassShare& share : report.shares)
        if (share.location == "all" && share.bit == "all" && share.what == "degraded")
            CHECK(share.percent == doctest::Approx(100.0 / 32));
    REQUIRE(report.ruined.size() == 1);
    CHECK(report.ruined[0].flips == doctest::Approx(1.0));
    CHECK(report.ruined[0].ruined == doctest::Approx(1.0 / 32));
}

TEST_CASE("trials with a guard that only reports belong to the population of those without")
{
    // One bit of 32 ruins: 3.125 %. If the 60 trials of bit 1 were a population of their own, its 100 bits would count
    // twice: (100 + 100) / (3200 + 100) = 6.06 %.
    Bits bits;
    bits.add_all(2);
    bits.add(60, 1, "1", "range=2");
    bits.add(15, 1, "1", "checksum:report");
    const auto report = report_of({bits.run});
    const analysis::ClassShare share = degraded(report);
    CHECK(share.percent == doctest::Approx(100.0 / 32));
    CHECK(share.count == 77);
    CHECK(share.trials == 139);
    CHECK(share.is_weighted);
    REQUIRE(report.ruined.size() == 1);
    CHECK(report.ruined[0].flips == doctest::Approx(1.0));
    CHECK(report.ruined[0].ruined == doctest::Approx(1.0 / 32));
    const auto layers = analysis::layer_map(report);
    REQUIRE(layers.size() == 1);
    CHECK(layers[0].ruined.percent == doctest::Approx(100.0 / 32));
    double of_bit_1 = 0.0;
    double all = 0.0;
    for (std::size_t i = 2; i < report.trials.size(); ++i) {
        all += report.weights[i];
        of_bit_1 += report.trials[i].bit == "1" ? report.weights[i] : 0.0;
    }
    CHECK(of_bit_1 / all == doctest::Approx(1.0 / 32));
    CHECK(all == doctest::Approx(3200.0));
}

TEST_CASE("a bit counts once where two runs, or two moments, draw it")
{
    // One bit of 32 ruins: 3.125 %, even if a second run, or the second moment, tries only that bit.
    Bits first;
    first.add_all(2);
    Bits second;
    second.add(40, 1, "1");
    CHECK(degraded(report_of({first.run, second.run})).percent == doctest::Approx(100.0 / 32));

    first.step = moment + 4;
    first.add(10, 1, "1");
    const auto report = report_of({first.run});
    CHECK(degraded(report).percent == doctest::Approx(100.0 / 32));
    const auto rows = analysis::layer_step_map(report);  // each step is a population
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].ruined.percent == doctest::Approx(100.0 / 32));
    CHECK(rows[1].ruined.percent == doctest::Approx(100.0));
}

TEST_CASE("moments count as much, however many trials they have")
{
    // At the first moment 1 of 32 bits ruins, at the second all of them: 0.5 x 1/32 + 0.5 x 1 = 51.56 %.
    Bits bits;
    bits.add_all(4);
    bits.step = moment + 4;
    const std::size_t before = bits.run.outcomes.size();
    bits.add_all(1);
    for (std::size_t i = before; i < bits.run.outcomes.size(); ++i) bits.run.outcomes[i].accuracy = 0.5;
    CHECK(degraded(report_of({bits.run})).percent == doctest::Approx(51.5625));
}

TEST_CASE("what a guard catches is weighted within its own trials")
{
    // The guard catches only bit 1, which its 8 additional trials draw again: 1 of 32 bits, not 9 of 40 trials. The
    // many trials without a guard have other strata, which do not matter for the guard.
    Bits bits;
    bits.add_all(20);
    bits.add_all(1, "range=2");
    bits.add(8, 1, "1", "range=2");
    const auto report = report_of({bits.run});
    REQUIRE(report.guards.size() == 2);
    CHECK(report.guards[1].caught.percent == doctest::Approx(100.0 / 32));
    CHECK(report.guards[1].caught.count == 9);
    CHECK(report.guards[1].ruined.percent == doctest::Approx(100.0 / 32));
    CHECK(report.guards[0].ruined.percent == doctest::Approx(100.0 / 32));
    CHECK_FALSE(report.guards[0].ruined.is_weighted);
}

TEST_CASE("a guard that was tried on other bits is neither worth its time nor not")
{
    // Without the guard 1 of 32 flips ruins; with it, tried on bit 1 alone, all do: that is no evidence against the
    // guard.
    const auto worth_of = [](const std::string& tried) {
        Bits bits;
        bits.add_all(40);
        if (tried == "all")
            bits.add_all(40, "range=2");
        else
            bits.add(40, 1, tried, "range=2");
        for (int i = 0; i < 4; ++i) {
            base::Outcome null = ended(0.95, "0:0.80 8:0.95");
            null.trial = "n" + std::to_string(i);
            null.kind = base::trial_kind::null;
            null.what = base::outcome_class::masked;
            null.seconds = i < 2 ? 2.0 : 3.0;
            bits.run.outcomes.push_back(null);
            bits.run.trials.push_back({.name = null.trial,
                                       .kind = null.kind,
                                       .step = moment,
                                       .guard = i < 2 ? "none" : "range=2",
                                       .steps = steps});
        }
        bits.run.trials.erase(bits.run.trials.begin());  // removes the null trial without a time
        bits.run.outcomes.erase(bits.run.outcomes.begin());
        return report_of({bits.run}).guards.at(1).worth;
    };
    CHECK(worth_of("all") == "not worth");
    CHECK(worth_of("1") == "undecided");
}

TEST_CASE("a weighted share says so beside its count, one that is not does not")
{
    Bits even;
    even.add_all(1);
    Bits bits;
    bits.add_all(1);
    bits.add(8, 1, "1");
    const testing::Scratch scratch;
    const auto texts = [&](const std::string& name, const analysis::TrialRun& run) {
        const auto report = report_of({run});
        analysis::write_outcomes(scratch / name, report);
        std::ostringstream out;
        analysis::print_outcomes(out, report);
        return std::pair{out.str(), base::read_whole(scratch / name / "index.html")};
    };
    const auto [weighted, weighted_page] = texts("weighted", bits.run);
    CHECK_MESSAGE(weighted.find("degraded: 9 of 40 trials, 3.12 % of all flips (") != std::string::npos, weighted);
    CHECK(weighted_page.find("<span>3.12\u00a0% of all flips</span></td>") != std::string::npos);
    CHECK(weighted_page.find("degraded 9 of 40 trials, 3.12\u00a0% of all flips (") != std::string::npos);
    CHECK(weighted_page.find(">9 of 40 trials, 3.1 % of all flips</text>") != std::string::npos);
    const base::CsvTable classes{scratch / "weighted/classes.csv"};
    for (std::size_t row = 0; row < classes.rows(); ++row)
        if (classes.text(row, "bit") == "all") CHECK(classes.get<int>(row, "weighted") == 1);
    CHECK(base::CsvTable{scratch / "weighted/layer_map.csv"}.get<int>(0, "weighted") == 1);
    const auto [equal, equal_page] = texts("equal", even.run);
    CHECK(equal.find("of all flips") == std::string::npos);
    CHECK(equal_page.find("% of all flips") == std::string::npos);
    CHECK(base::CsvTable{scratch / "equal/classes.csv"}.get<int>(0, "weighted") == 0);
}

TEST_CASE("one trial has no interval on the page")
{
    const testing::Scratch scratch;
    const auto report = analysis::outcome_report({run_of({ended(0.5, "0:0.8")})}, band(),
                                                 analysis::ProportionInterval::wilson, std::nullopt);
    analysis::write_outcomes(scratch / "report", report);
    const std::string page = base::read_whole(scratch / "report/index.html");
    CHECK(page.find("(no interval for one trial)") != std::string::npos);
    std::ostringstream out;
    analysis::print_outcomes(out, report);
    CHECK_MESSAGE(out.str().find("1, 100.00 % (no interval for one trial)\n") != std::string::npos, out.str());
    CHECK(analysis::bars(analysis::bit_map(report), "bits").find("<line") == std::string::npos);
}

TEST_CASE("bits of a map are sign, exponent and fraction of the type that their tensors seem to have")
{
    const auto roles = [](const std::vector<std::string>& bits) {
        analysis::TrialRun run = run_of(std::vector<base::Outcome>(bits.size(), ended(0.95, "0:0.8")));
        for (std::size_t i = 0; i < bits.size(); ++i) {
            base::Outcome& outcome = run.outcomes[run.outcomes.size() - bits.size() + i];
            outcome.bits = bits[i].substr(0, bits[i].find(' '));
            outcome.path = bits[i].substr(bits[i].find(' ') + 1);
        }
        std::string all;
        for (const analysis::MapRow& row : analysis::bit_map(
                 analysis::outcome_report({run}, band(), analysis::ProportionInterval::wilson, std::nullopt)))
            all += analysis::label(row) + "; ";
        return all;
    };
    CHECK(roles({"0 a", "1 a", "8 a", "9 a", "31 a"}) ==
          "0, sign; 1, exponent; 8, exponent; 9, fraction; 31, fraction; ");
    CHECK(roles({"0 a", "11 a", "12 a", "63 a"}) == "0, sign; 11, exponent; 12, fraction; 63, fraction; ");
    CHECK(roles({"1 a", "63 b"}) == "1; 63; ");  // two types, and nothing says which bit is of which
}

TEST_CASE("what a guard repairs says nothing of what a flip does")
{
    analysis::TrialRun run = run_of({ended(0.5, "0:0.8"), ended(0.5, "0:0.8"), ended(0.95, "0:0.8")});
    run.trials[3].guard = "range";
    run.trials[4].guard = "range:repair";
    const auto shares = analysis::class_shares(analysis::classed(run, band()), analysis::ProportionInterval::wilson);
    std::int64_t ruined = 0;
    for (const analysis::ClassShare& share : shares)
        if (share.location == "all" && share.bit == "all" && share.what == "degraded") {
            CHECK(share.trials == 2);
            ruined += share.count;
        }
    CHECK(ruined == 2);
}

TEST_CASE("null trials that differ and positive ones that do not collapse are not to be trusted")
{
    CHECK(analysis::why_not_trustworthy(analysis::classed(run_of({}), band()), band()).empty());
    analysis::TrialRun run = run_of({});
    run.outcomes[0].what = base::outcome_class::ended;
    run.outcomes[1].what = base::outcome_class::ended;
    run.outcomes[1].accuracy = 0.95;
    CHECK(analysis::why_not_trustworthy(analysis::classed(run, band()), band()).size() == 2);
    run = run_of({});
    run.trials.resize(0);
    run.outcomes.resize(0);
    CHECK(analysis::why_not_trustworthy(analysis::classed(run, band()), band()).size() == 2);
}

TEST_CASE("the band's lower end is that of one more training")
{
    // Mean 5, standard deviation 2.13809, t(0.975, 7) = 2.36462: 5 - 2.36462 x 2.13809 x sqrt(1 + 1/8).
    CHECK(analysis::lower_end({2, 4, 4, 4, 5, 5, 7, 9}) == doctest::Approx(-0.36242).epsilon(1e-4));
}
