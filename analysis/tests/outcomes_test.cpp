// Classes of trials, by hand.
#include "analysis/outcomes/maps.hpp"
#include "analysis/outcomes/stored.hpp"
#include "analysis/outcomes/tables.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <set>
#include <sstream>

namespace {

constexpr std::int64_t moment = 10;
constexpr std::int64_t steps = 8;

// Undisturbed: accuracy 0.95; in the band down to 0.90.
analysis::Bands band()
{
    return {{{"mlp", moment + steps}, {.accuracies = {0.93, 0.95}, .low = 0.90}}};
}

base::Outcome ended(double accuracy, const std::string& accuracies, double largest = 2.0)
{
    base::Outcome one{.kind = base::trial_kind::trial,
                      .strategy = "ddp",
                      .step = moment,
                      .path = "model/layers.0.weight",
                      .bits = "3",
                      .guard = "none",
                      .what = base::outcome_class::ended,
                      .accuracy = accuracy,
                      .loss = 0.1,
                      .drawn_from = 100.0,
                      .accuracies = accuracies,
                      .largest = largest,
                      .steps = steps};
    return one;
}

analysis::TrialRun run_of(std::vector<base::Outcome> outcomes)
{
    base::Outcome null = ended(0.95, "0:0.80 1:0.85 4:0.90 8:0.95");
    null.kind = base::trial_kind::null;
    null.what = base::outcome_class::masked;
    base::Outcome positive = ended(0.1, "0:0.1 8:0.1");
    positive.kind = base::trial_kind::positive;
    positive.what = base::outcome_class::collapsed;
    outcomes.insert(outcomes.begin(), {null, positive});
    analysis::TrialRun run{.directory = "run",
                           .model = "mlp",
                           .strategy = "ddp",
                           .trials = {},
                           .outcomes = {},
                           .held_out = 360,
                           .chance = 0.1,
                           .parameters = {},
                           .ranks = 2};
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        outcomes[i].trial = "t" + std::to_string(i);
        run.trials.push_back({.name = outcomes[i].trial, .kind = outcomes[i].kind, .step = moment, .steps = steps});
    }
    run.outcomes = std::move(outcomes);
    return run;
}

std::string class_of(const base::Outcome& outcome)
{
    return analysis::classed(run_of({outcome}), band()).back().what;
}

}  // namespace

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
    // Of 900 bits one in ten trials is ruined, of 100 bits nine in ten: 0.9 x 10 % + 0.1 x 90 % = 18 %.
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
        // Kish: (10 x 90 + 10 x 10)^2 / (10 x 90^2 + 10 x 10^2) = 12.195 trials; Wilson of 18 % of them.
        const base::Interval by_hand = base::wilson(0.18 * 12.19512, 12.19512, 0.95);
        CHECK(share.percent_interval.low == doctest::Approx(100.0 * by_hand.low));
    }
}

TEST_CASE("a bit that two strata hold counts once")
{
    // 32 bits each of 100 numbers; 64 trials draw from all, 2 of each bit, and 8 more from bit 1, which always ruins.
    // All flips are as likely: 1 of 32 ruins, however often bit 1 was tried.
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

namespace {

// Trials of 32 bits each of 100 numbers. A flip of bit 1 ruins the training, no other does.
struct Bits {
    analysis::TrialRun run = run_of({});
    std::int64_t step = moment;

    void add(int number, int bit, const std::string& bits, const std::string& guard = "none")
    {
        for (int i = 0; i < number; ++i) {
            base::Outcome one = ended(bit == 1 ? 0.5 : 0.95, "0:0.80 8:0.95");
            one.trial = "s" + std::to_string(run.trials.size());
            one.step = step;
            one.steps = moment + steps - step;
            one.bits = std::to_string(bit);
            one.drawn_from = bits == "0-31" ? 3200.0 : 100.0;
            if (guard != "none" && bit == 1) one.caught = "0";
            run.outcomes.push_back(one);
            run.trials.push_back({.name = one.trial, .step = step, .bits = bits, .guard = guard, .steps = one.steps});
        }
    }
    void add_all(int of_each, const std::string& guard = "none")
    {
        for (int bit = 0; bit < 32; ++bit) add(of_each, bit, "0-31", guard);
    }
};

// One flip in 1,000 hours.
constexpr analysis::ErrorRate one_flip{.per_mbit = 1e9 / 3200 * 1048576 / 1000};

analysis::OutcomeReport report_of(const std::vector<analysis::TrialRun>& runs)
{
    return analysis::outcome_report(runs, band(), analysis::ProportionInterval::wilson, one_flip);
}

analysis::ClassShare degraded(const analysis::OutcomeReport& report)
{
    for (const analysis::ClassShare& share : report.shares)
        if (share.location == "all" && share.bit == "all" && share.what == "degraded") return share;
    return {};
}

}  // namespace

TEST_CASE("trials with a guard that only reports belong to the population of those without")
{
    // One bit of 32 ruins: 3.125 %. As a population of their own the 60 trials of bit 1 would stand for its 100 bits
    // once more: (100 + 100) / (3200 + 100) = 6.06 %.
    Bits bits;
    bits.add_all(2);
    bits.add(60, 1, "1", "range=2");
    bits.add(15, 1, "1", "checksum:tell");
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
    // One bit of 32: 3.125 %, though a second run, or the second moment, tries nothing but that bit.
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
    // The first moment: 1 of 32 bits ruins. The second: all of them. 0.5 x 1/32 + 0.5 x 1 = 51.56 %.
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
    // The guard catches bit 1 alone, which its 8 further trials draw once more: 1 of 32 bits, not 9 of 40 trials.
    // Beside it stand many trials without it, whose strata are no matter of the guard's.
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
    // Without the guard 1 of 32 flips ruins; with it, tried on bit 1 alone, all do: that shows no harm of the guard.
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
        bits.run.trials.erase(bits.run.trials.begin());  // the null trial that has no time
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
    CHECK_MESSAGE(weighted.find("degraded: 9, 3.12 % (") != std::string::npos, weighted);
    CHECK_MESSAGE(weighted.find("), weighted by bits\n") != std::string::npos, weighted);
    CHECK(weighted_page.find("%, weighted by bits</td>") != std::string::npos);
    CHECK(weighted_page.find("weighted by bits; 9 of 40 trials") != std::string::npos);
    CHECK(weighted_page.find("3.1 % (9 of 40 trials, weighted by bits)") != std::string::npos);
    const base::CsvTable classes{scratch / "weighted/classes.csv"};
    for (std::size_t row = 0; row < classes.rows(); ++row)
        if (classes.text(row, "bit") == "all") CHECK(classes.get<int>(row, "weighted") == 1);
    CHECK(base::CsvTable{scratch / "weighted/layer_map.csv"}.get<int>(0, "weighted") == 1);
    const auto [equal, equal_page] = texts("equal", even.run);
    CHECK(equal.find("weighted") == std::string::npos);
    CHECK(equal_page.find(", weighted by bits") == std::string::npos);
    CHECK(base::CsvTable{scratch / "equal/classes.csv"}.get<int>(0, "weighted") == 0);
}

TEST_CASE("one trial has no interval on the page")
{
    const testing::Scratch scratch;
    const auto report = analysis::outcome_report({run_of({ended(0.5, "0:0.8")})}, band(),
                                                 analysis::ProportionInterval::wilson, std::nullopt);
    analysis::write_outcomes(scratch / "report", report);
    const std::string page = base::read_whole(scratch / "report/index.html");
    CHECK(page.find("(no interval of one trial)") != std::string::npos);
    CHECK(analysis::bars(analysis::bit_map(report), "bits").find("<line") == std::string::npos);
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
    CHECK_THROWS_WITH_AS(analysis::read_bands({scratch / "s1", scratch / "s2"}), doctest::Contains("of its own"),
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
    CHECK(report.comparisons[0].only_first == 0);  // cycle
    CHECK(report.comparisons[0].only_second == 1);
    CHECK(report.comparisons[0].p == 1.0);
}

TEST_CASE("a rate of bit errors says how many runs are ruined")
{
    // One of four trials is ruined. 2^20 bits, 4e6 failures in 1e9 h: 4 flips in 1,000 h, one of them ruins.
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
    CHECK(points[0].interval.high == 1.0);  // of one trial nothing is known
    CHECK(points[1].trials == 3);
    CHECK(points[1].ruined == 1);  // 0.80 lies below the band's 0.90
    // Mean 0.9, deviation 0.1: 0.9 - 4.30265 x 0.1 / sqrt(3), t of two degrees of freedom; at most 1.
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
    if (!std::filesystem::exists("/usr/bin/gnuplot")) return testing::skip("gnuplot is not there");
    const std::string drawn = base::read_whole(scratch / "report/stored.svg");
    for (const char* text : {"1e−6", "bit error rate of a read", "mlp, ddp", "read once, detection parity", ">int8<"})
        CHECK_MESSAGE(drawn.find(text) != std::string::npos, text);
}

TEST_CASE("a guard is priced by null trials, in quiet and beside noise, which counts for nothing else")
{
    const auto priced = [](double first_ratio, double second_ratio) {
        std::vector<base::Outcome> nulls;
        for (const double ratio : {0.0, first_ratio, 0.0, second_ratio}) {
            base::Outcome null = ended(0.95, "0:0.80 8:0.95");
            null.kind = base::trial_kind::null;
            null.what = base::outcome_class::masked;
            null.guard = ratio > 0.0 ? "range" : "none";
            null.seconds = ratio > 0.0 ? 2.0 * ratio : 2.0;
            nulls.push_back(null);
        }
        nulls.push_back(ended(0.5, "0:0.80"));
        analysis::TrialRun run = run_of(nulls);
        run.trials.erase(run.trials.begin());  // the null trial that has no time
        run.outcomes.erase(run.outcomes.begin());
        for (std::size_t i = 0; i < run.trials.size(); ++i) run.trials[i].guard = run.outcomes[i].guard;
        return run;
    };
    analysis::TrialRun noisy = priced(1.5, 1.7);
    noisy.noise = "memory.stream 1s";
    const auto report =
        analysis::outcome_report({priced(1.1, 1.2), noisy}, band(), analysis::ProportionInterval::wilson, std::nullopt);
    REQUIRE(report.guards.size() == 2);
    CHECK(report.guards[1].guard == "range");
    CHECK(report.guards[1].cost_percent->value == doctest::Approx(15.0));
    CHECK(report.guards[1].noisy_cost_percent->value == doctest::Approx(60.0));
    CHECK(report.guards[1].caught.trials == 0);  // of which nothing is known
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
    // One flip ruins none of 20 trainings (0 to 16.1 %), 24 flips all of 20. Of 12.5 flips in 1,000 hours each that
    // ruins loses 24 hours: at most 0.3 x 16.1 % = 4.8 % of the time, and the guard takes 10 %.
    std::vector<base::Outcome> outcomes(44, ended(0.95, "0:0.80 8:0.95"));
    for (std::size_t i = 20; i < 40; ++i) outcomes[i].accuracy = 0.5;
    for (std::size_t i = 40; i < 44; ++i) {
        outcomes[i].kind = base::trial_kind::null;
        outcomes[i].what = base::outcome_class::masked;
        outcomes[i].seconds = i % 2 == 0 ? 2.0 : 2.2;
    }
    for (const base::Outcome& trial : std::vector(20, ended(0.95, "0:0.80 8:0.95"))) outcomes.push_back(trial);
    analysis::TrialRun run = run_of(outcomes);
    run.trials.erase(run.trials.begin());  // the null trial that has no time
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
    // 1 + 4.30265 x 1 / sqrt(3), t of two degrees of freedom; never before the flip.
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
