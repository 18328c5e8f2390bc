// SPDX-License-Identifier: Apache-2.0
// Tests of long steps: checkpoints are strata, accidents are charged to a noise or excluded, and stalls of any length
// count.
#include "analysis/estimate/assigned/long_steps.hpp"

#include "analysis/conclude/verdict.hpp"
#include "base/error.hpp"
#include "testing/synthetic_steps.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using analysis::LongSteps;
using analysis::Slot;
using analysis::testing::calm_and_net;
using analysis::testing::has;
using analysis::testing::laid;
using analysis::testing::noise_called;

namespace {

// Relative variation of up to 0.5 %, without a pattern that slots or strata have.
double jitter(std::int64_t number)
{
    return 0.001 * static_cast<double>(number * 7 % 11 - 5);
}

analysis::Analysis analysis_of(const analysis::DesignedRun& run)
{
    return analysis::analyse(run, {.exposure = {.warm_up_steps = 0}, .draws = {.count = 199}, .by_rank = false});
}

const analysis::Effect& effect_of(const analysis::Analysis& result, const std::string& factor,
                                  const std::string& phase = "step")
{
    const analysis::Effect* effect = analysis::find(result.effects, factor, "", analysis::Kind::alone, phase);
    REQUIRE(effect != nullptr);
    return *effect;
}

const analysis::AccidentRate& rate_of(const analysis::Analysis& result, const std::string& factor)
{
    const auto found = std::find_if(result.accident_rates.begin(), result.accident_rates.end(),
                                    [&](const analysis::AccidentRate& rate) { return rate.factor == factor; });
    REQUIRE(found != result.accident_rates.end());
    return *found;
}

const analysis::FactorVerdict& verdict_on(const analysis::Verdict& verdict, const std::string& factor)
{
    const auto found = std::find_if(verdict.factors.begin(), verdict.factors.end(),
                                    [&](const analysis::FactorVerdict& one) { return one.factor == factor; });
    REQUIRE(found != verdict.factors.end());
    return *found;
}

}  // namespace

TEST_CASE("an accident of some length is one under every noise or under none")
{
    // Quiet steps take 97, 100 and 103 ms, noisy ones 145.5, 150 and 154.5 ms. The median distance from 100 % is 3 %,
    // so five robust deviations are 5 x 1.4826 x 3 % = 22.2 % of a step: 22 ms of a quiet step, 33 ms of a noisy one.
    const auto found = [](double accident_ms) {
        analysis::DesignedRun run;
        run.steps.phases = {"other"};
        analysis::RankSteps& rank = run.steps.ranks.emplace_back();
        std::vector<Slot> slots;
        std::int64_t time_ns = 0;
        for (const bool noisy : {false, true}) {
            const std::int64_t begin_ns = time_ns;
            for (int i = 0; i < 99; ++i) {
                const double quiet_ms = 97.0 + 3.0 * (i % 3);
                const double ms = (noisy ? 1.5 : 1.0) * quiet_ms + (i == 19 ? accident_ms : 0.0);
                run.steps.numbers.push_back(static_cast<std::int64_t>(run.steps.numbers.size()));
                rank.begin_ns.push_back(time_ns);
                time_ns += std::llround(ms * 1e6);
                rank.end_ns.push_back(time_ns);
                rank.phase_ms.append_row(std::vector{ms});
            }
            slots.push_back({0, begin_ns, time_ns, {}});
            if (noisy) slots.back().on = {noise_called("net")};
        }
        const analysis::Experiment plan = analysis::experiment(analysis::Design::rotation, slots);
        const std::vector<std::vector<Slot>> of_ranks{slots};
        return analysis::find_long_steps(run.steps, analysis::measures_of(run.steps), of_ranks,
                                         analysis::expose(run.steps, of_ranks, plan, {.warm_up_steps = 0}), plan);
    };
    const LongSteps shorter = found(28.0);
    CHECK(shorter.robust_deviation == doctest::Approx(1.4826 * 0.03).epsilon(0.01));
    CHECK(shorter.count() == 0);
    const LongSteps longer = found(45.0);
    CHECK(longer.count() == 2);
    CHECK(longer.kind[19] == LongSteps::accident);
    CHECK(longer.kind[99 + 19] == LongSteps::accident);
    CHECK(longer.accidents == std::vector<std::size_t>{1, 1});
    CHECK(longer.used == std::vector<std::size_t>{99, 99});
    // The centres are 100 and 150 ms; all other steps are wholly ordinary.
    CHECK(longer.regular[19] == doctest::Approx(100.0 / 145.0));
    CHECK(longer.regular[99 + 19] == doctest::Approx(150.0 / 195.0));
    CHECK(longer.regular[20] == 1.0);
}

TEST_CASE("stalls of five slots under one noise are its effect, though they leave slots without a step of their own")
{
    // Steps of 100 ms in slots of one second. Every 100th step that begins under net takes 5 s longer: 5 s for each 10
    // s of work, 50 % more. Such a step ends in another slot, mostly of another block.
    std::int64_t under_net = 0;
    const analysis::DesignedRun run = laid(calm_and_net(300, 1000.0), [&](std::int64_t number, const Slot& slot) {
        const double ms = 100.0 * (1.0 + jitter(number));
        return has(slot, "net") && ++under_net % 100 == 50 ? ms + 5000.0 : ms;
    });
    const analysis::Analysis result = analysis_of(run);
    CHECK(result.blocks >= 299);
    CHECK(result.long_steps.count() == static_cast<std::size_t>((under_net + 50) / 100));
    CHECK(rate_of(result, "net").only_here);
    CHECK(rate_of(result, "net").charged);
    CHECK(rate_of(result, "net").excess_percent == doctest::Approx(50.0).epsilon(0.03));
    CHECK(effect_of(result, "net").percent.value == doctest::Approx(50.0).epsilon(0.03));
    CHECK(std::abs(effect_of(result, "calm").percent.value) < 0.05);
    CHECK(effect_of(result, "calm").percent.interval(0.95).half_width() < 0.05);
    const analysis::Verdict verdict = analysis::verdict(run, result, {}, {.budget_percent = 1.0});
    CHECK(verdict_on(verdict, "net").verdict == "unsafe");
    // Such a stall might have occurred under calm as well, but only steps of net had one.
    CHECK(verdict_on(verdict, "calm").verdict != "unsafe");
}

TEST_CASE("the interval of a noise that stalls at random holds the truth")
{
    // Each step under net is stalled for 2 s with a probability of 2.5 %: 50 % more on average, in about 25 stalls per
    // run.
    int covered = 0;
    int unsafe = 0;
    double sum = 0.0;
    constexpr int runs = 20;
    for (std::uint64_t seed = 1; seed <= runs; ++seed) {
        base::Random random{seed + 100};
        const analysis::DesignedRun run =
            laid(calm_and_net(100, 1000.0, seed), [&](std::int64_t number, const Slot& slot) {
                const double ms = 100.0 * (1.0 + jitter(number));
                return has(slot, "net") && base::draw_unit(random) < 0.025 ? ms + 2000.0 : ms;
            });
        const analysis::Analysis result =
            analysis::analyse(run, {.exposure = {.warm_up_steps = 0}, .draws = {.count = 0}, .by_rank = false});
        const analysis::Mean& percent = effect_of(result, "net").percent;
        covered += percent.interval(0.95).contains(50.0) ? 1 : 0;
        unsafe += percent.interval(0.95).low > 1.0 ? 1 : 0;
        sum += percent.value;
    }
    CHECK(covered >= 17);  // 19 expected; fewer than 17 in one of 700 tries
    CHECK(unsafe == runs);
    CHECK(sum / runs == doctest::Approx(50.0).epsilon(0.15));  // standard deviation of the mean: 5 %
}

TEST_CASE("checkpoints that a noise doubles are its effect by the training's own share of them, and no outliers")
{
    // Steps of 20 ms; every 25th saves a checkpoint, which takes 80 ms more, and 160 ms under net. The mean step takes
    // 20 + 80 / 25 = 23.2 ms in quiet, and 3.2 ms more under net.
    const double truth = 100.0 * (4.0 / 25.0) / (1.0 + 4.0 / 25.0);
    for (const bool has_phase : {true, false}) {
        CAPTURE(has_phase);
        const std::vector<std::string> phases = has_phase ? std::vector<std::string>{"backward", "checkpoint"}
                                                          : std::vector<std::string>{"backward", "other"};
        const analysis::DesignedRun run =
            laid(calm_and_net(60, 1000.0), phases, [&](std::int64_t number, const Slot& slot) {
                const double saving = has(slot, "net") ? 160.0 : 80.0;
                return std::vector{20.0 * (1.0 + jitter(number)), number % 25 == 7 ? saving : 0.0};
            });
        const analysis::Analysis result = analysis_of(run);
        CHECK(result.long_steps.count() == 0);
        CHECK(result.counts.count(analysis::LeftOut::outlier) == 0);
        REQUIRE(result.long_steps.strata.size() == 1);
        const analysis::StepStratum& stratum = result.long_steps.strata[0];
        CHECK(stratum.name == (has_phase ? "checkpoint" : "every 25 steps"));
        CHECK(stratum.period == 25);
        CHECK(stratum.first == 7);
        CHECK(stratum.share == doctest::Approx(1.0 / 25.0));
        CHECK_FALSE(effect_of(result, "net").lacks_a_stratum);
        CHECK(effect_of(result, "net").percent.value == doctest::Approx(truth).epsilon(0.01));
        // Part of a checkpoint is in the ordinary part of its step, so phases are less exact than their sum.
        CHECK(effect_of(result, "net", phases[1]).percent.value == doctest::Approx(truth).epsilon(0.05));
        CHECK(effect_of(result, "calm").percent.value == doctest::Approx(0.0).scale(10.0).epsilon(0.01));
        CHECK(result.quiet_step_ms == doctest::Approx(23.2).epsilon(0.002));
        const analysis::Verdict verdict = analysis::verdict(run, result, {}, {.budget_percent = 1.0});
        CHECK(verdict_on(verdict, "net").verdict == "unsafe");
    }
}

TEST_CASE("a noise that makes checkpoints rarer saves what they take")
{
    // One step in ten saves for 80 ms, under net one in a hundred: 20.8 ms instead of 28 ms on average.
    const analysis::DesignedRun run =
        laid(calm_and_net(100, 1000.0), {"backward", "checkpoint"}, [&](std::int64_t number, const Slot& slot) {
            const bool saves = number % 10 == 7 && (!has(slot, "net") || number % 100 == 7);
            return std::vector{20.0 * (1.0 + jitter(number)), saves ? 80.0 : 0.0};
        });
    const analysis::Analysis result = analysis_of(run);
    REQUIRE(result.long_steps.strata.size() == 1);
    CHECK(effect_of(result, "net").percent.value == doctest::Approx(100.0 * (20.8 / 28.0 - 1.0)).epsilon(0.05));
    CHECK(std::abs(effect_of(result, "calm").percent.value) < 0.5);
    // Lost checkpoints are no reason to run such a noise.
    CHECK(verdict_on(analysis::verdict(run, result, {}, {.budget_percent = 1.0}), "net").verdict != "safe");
}

TEST_CASE("long steps whose numbers count samples have the share that they have among steps")
{
    // Every 25th step saves for 80 ms, under net for 160 ms; step numbers increase by 32.
    analysis::DesignedRun run =
        laid(calm_and_net(100, 1000.0), {"backward", "checkpoint"}, [&](std::int64_t number, const Slot& slot) {
            const double saves = number % 25 == 7 ? (has(slot, "net") ? 160.0 : 80.0) : 0.0;
            return std::vector{20.0 * (1.0 + jitter(number)), saves};
        });
    for (std::size_t i = 0; i < run.steps.numbers.size(); ++i) run.steps.numbers[i] *= 32;
    const analysis::Analysis result = analysis_of(run);
    REQUIRE(result.long_steps.strata.size() == 1);
    CHECK(result.long_steps.strata[0].share == doctest::Approx(1.0 / 25.0));
    CHECK(effect_of(result, "net").percent.value == doctest::Approx(100.0 * (26.4 / 23.2 - 1.0)).epsilon(0.02));
}

TEST_CASE("long steps whose numbers leap with each epoch have the share that they have among steps")
{
    // Epochs of 25 steps are numbered 0 to 24, 1000 to 1024 and so on; the last step of each takes 80 ms more, under
    // net 160 ms.
    analysis::DesignedRun run = laid(calm_and_net(100, 1000.0), [&](std::int64_t number, const Slot& slot) {
        return 20.0 * (1.0 + jitter(number)) + (number % 25 == 24 ? (has(slot, "net") ? 160.0 : 80.0) : 0.0);
    });
    for (std::size_t i = 0; i < run.steps.numbers.size(); ++i)
        run.steps.numbers[i] = run.steps.numbers[i] / 25 * 1000 + run.steps.numbers[i] % 25;
    const analysis::Analysis result = analysis_of(run);
    REQUIRE(result.long_steps.strata.size() == 1);
    CHECK(result.long_steps.strata[0].share == doctest::Approx(1.0 / 25.0));
    CHECK(effect_of(result, "net").percent.value == doctest::Approx(100.0 * (26.4 / 23.2 - 1.0)).epsilon(0.02));
}

TEST_CASE("checkpoints that are left out beside a noise shorten its steps, though their numbers have a period")
{
    // Every 25th step saves for 80 ms, but every second one under net does not: 23.2 ms in quiet, and 1.05 x 20 + 1.6
    // ms under net.
    std::int64_t of_net = 0;
    const analysis::DesignedRun run =
        laid(calm_and_net(100, 1000.0), {"backward", "checkpoint"}, [&](std::int64_t number, const Slot& slot) {
            const bool due = number % 25 == 7;
            const bool left_out = due && has(slot, "net") && ++of_net % 2 == 0;
            const double pace = has(slot, "net") ? 1.05 : 1.0;
            return std::vector{20.0 * (1.0 + jitter(number)) * pace, due && !left_out ? 80.0 : 0.0};
        });
    const analysis::Analysis result = analysis_of(run);
    REQUIRE(result.long_steps.strata.size() == 1);
    CHECK(result.long_steps.strata[0].period == 25);
    CHECK(effect_of(result, "net").percent.value == doctest::Approx(100.0 * (22.6 / 23.2 - 1.0)).epsilon(0.1));
}

TEST_CASE("validations longer than slots are shared among the treatments that they meet")
{
    // Every 100th step validates for 3 s, three slots, and net halves its speed while it is on, so that the work takes
    // 6 s. A step takes 20 ms, on average 50 ms, and 80 ms with net all the time.
    const std::vector<Slot> slots = calm_and_net(150, 1000.0);
    std::int64_t at_ns = 0;
    const analysis::DesignedRun run = laid(slots, {"backward", "other"}, [&](std::int64_t number, const Slot& slot) {
        const double step = 20.0 * (1.0 + jitter(number));
        double work_ns = number % 100 == 50 ? 3e9 : 0.0;
        double took_ns = 0.0;
        at_ns = std::max(at_ns, slot.begin_ns);
        while (work_ns > 0.0) {
            const auto now = static_cast<std::int64_t>(static_cast<double>(at_ns) + step * 1e6 + took_ns);
            const auto in = std::find_if(slots.begin(), slots.end(), [&](const Slot& one) { return now < one.end_ns; });
            const double pace = in != slots.end() && has(*in, "net") ? 2.0 : 1.0;
            const double piece_ns = std::min(work_ns, 1e6);
            took_ns += piece_ns * pace;
            work_ns -= piece_ns;
        }
        at_ns += static_cast<std::int64_t>(step * 1e6 + took_ns);
        return std::vector{step, took_ns / 1e6};
    });
    const analysis::Analysis result = analysis_of(run);
    REQUIRE(result.long_steps.strata.size() == 1);
    CHECK(result.long_steps.strata[0].spans_slots);
    CHECK(effect_of(result, "net").percent.value == doctest::Approx(60.0).epsilon(0.1));
}

TEST_CASE("checkpoints longer than slots that a noise doubles where they begin are doubled in the estimate")
{
    // Every 100th step writes for 3 s, three slots, and for 6 s if it begins under net: (20 + 60) / (20 + 30) - 1.
    const analysis::DesignedRun run =
        laid(calm_and_net(150, 1000.0), {"backward", "other"}, [&](std::int64_t number, const Slot& slot) {
            const double writes = number % 100 == 50 ? 3000.0 * (has(slot, "net") ? 2.0 : 1.0) : 0.0;
            return std::vector{20.0 * (1.0 + jitter(number)), writes};
        });
    const analysis::Analysis result = analysis_of(run);
    REQUIRE(result.long_steps.strata.size() == 1);
    CHECK(result.long_steps.strata[0].spans_slots);
    CHECK(effect_of(result, "net").percent.value == doctest::Approx(60.0).epsilon(0.02));
}

TEST_CASE("a stratum of which a noise began no step is said to be missing, and nothing is concluded from it")
{
    // Checkpoints never begin under net.
    const analysis::DesignedRun run =
        laid(calm_and_net(60, 1000.0), {"backward", "checkpoint"}, [&](std::int64_t number, const Slot& slot) {
            const bool saves = number % 25 == 7 && !has(slot, "net");
            return std::vector{20.0 * (1.0 + jitter(number)), saves ? 80.0 : 0.0};
        });
    const analysis::Analysis result = analysis_of(run);
    CHECK(effect_of(result, "net").lacks_a_stratum);
    CHECK_FALSE(effect_of(result, "calm").lacks_a_stratum);
    const analysis::Verdict verdict = analysis::verdict(run, result, {}, {.budget_percent = 1.0});
    CHECK(verdict_on(verdict, "net").verdict == "insensitive");
}

TEST_CASE("accidents between checkpoints stay accidents")
{
    std::int64_t accidents = 0;
    const analysis::DesignedRun run =
        laid(calm_and_net(60, 1000.0), {"backward", "checkpoint"}, [&](std::int64_t number, const Slot& slot) {
            const bool hit = slot.on.empty() && number % 97 == 50 && number % 25 != 7 && number % 3 != 0;
            accidents += hit ? 1 : 0;
            return std::vector{20.0 * (1.0 + jitter(number)) + (hit ? 60.0 : 0.0), number % 25 == 7 ? 80.0 : 0.0};
        });
    const analysis::Analysis result = analysis_of(run);
    REQUIRE(result.long_steps.strata.size() == 1);
    CHECK(accidents > 3);
    CHECK(result.long_steps.count() == static_cast<std::size_t>(accidents));
    CHECK(result.counts.at(analysis::LeftOut::outlier) == static_cast<std::size_t>(accidents));
}

TEST_CASE("accidents are charged by their time, not by their number")
{
    // All treatments have as many accidents, of 100 ms; those of net take `net_ms`. They are at random steps, without a
    // period.
    const auto charged = [](double net_ms) {
        base::Random random{9};
        const analysis::DesignedRun run = laid(calm_and_net(150, 1000.0), [&](std::int64_t number, const Slot& slot) {
            const double ms = 20.0 * (1.0 + jitter(number));
            if (base::draw_unit(random) >= 0.02) return ms;
            return ms + (has(slot, "net") ? net_ms : 100.0);
        });
        const analysis::Analysis result = analysis_of(run);
        CHECK(result.long_steps.rare);
        CHECK(rate_of(result, "net").percent_of_steps == doctest::Approx(2.0).epsilon(0.25));
        CHECK(rate_of(result, "quiet").percent_of_steps == doctest::Approx(2.0).epsilon(0.25));
        CHECK_FALSE(rate_of(result, "calm").charged);
        CHECK_FALSE(rate_of(result, "net").only_here);
        return rate_of(result, "net");
    };
    CHECK_FALSE(charged(100.0).charged);
    const analysis::AccidentRate longer = charged(300.0);
    CHECK(longer.charged);
    CHECK(longer.p <= 0.01);
    // 2 % of steps take 300 ms longer than 20 ms.
    CHECK(longer.excess_percent == doctest::Approx(30.0).epsilon(0.25));
}

TEST_CASE("accidents that a run cannot tell from chance acquit no noise that they could make unsafe")
{
    // At random, 0.1 % of all steps take 20 ms longer: 0.1 % of the time.
    const auto run_of = [](double accident_ms) {
        base::Random random{2};
        return laid(calm_and_net(60, 1000.0), [&random, accident_ms](std::int64_t number, const Slot&) {
            const double ms = 20.0 * (1.0 + jitter(number));
            return base::draw_unit(random) < 0.001 ? ms + accident_ms : ms;
        });
    };
    for (const double accident_ms : {20.0, 400.0}) {
        CAPTURE(accident_ms);
        const analysis::DesignedRun run = run_of(accident_ms);
        const analysis::Analysis result = analysis_of(run);
        REQUIRE(result.long_steps.count() > 0);
        const analysis::Effect& effect = effect_of(result, "calm");
        CHECK_FALSE(rate_of(result, "calm").charged);
        CHECK(effect.percent.interval(0.95).half_width() < 0.2);
        CHECK(effect.at_worst.interval(0.95).half_width() > effect.percent.interval(0.95).half_width());
        analysis::Verdict sound;  // the verdict of a run whose controls hold
        analysis::FactorVerdict judged;
        judged.interval = effect.percent.interval(0.95);
        judged.at_worst = effect.at_worst.interval(0.95);
        analysis::judge(judged, effect, sound);
        // At 400 ms, one accident more or less in 3,000 steps (60 s) is 0.7 % of a step.
        CHECK(judged.verdict == (accident_ms < 100.0 ? "safe" : "insensitive"));
    }
}

TEST_CASE("where accidents are not rare none is set aside, in quiet neither")
{
    // One step in 12 takes twice as long, under every treatment.
    base::Random random{5};
    const analysis::DesignedRun run = laid(calm_and_net(60, 1000.0), [&](std::int64_t number, const Slot&) {
        const double ms = 20.0 * (1.0 + jitter(number));
        return base::draw_unit(random) < 1.0 / 12.0 ? 2.0 * ms : ms;
    });
    const analysis::Analysis result = analysis_of(run);
    CHECK_FALSE(result.long_steps.rare);
    CHECK(effect_of(result, "net").percent.interval(0.95).contains(0.0));
    CHECK(result.counts.count(analysis::LeftOut::outlier) == 0);
}
