// SPDX-License-Identifier: Apache-2.0
// Tests of the estimator: exact without random variation, additive over phases, right about outliers.
#include "analysis/estimate/effects.hpp"

#include "analysis/estimate/analyse.hpp"
#include "analysis/estimate/simulation.hpp"
#include "base/error.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

using analysis::Effect;
using analysis::Kind;

namespace {

analysis::DesignedRun designed(analysis::SimulatedRun simulated)
{
    analysis::DesignedRun run;
    run.plan = analysis::experiment(analysis::Design::rotation, simulated.slots);
    run.steps = std::move(simulated.steps);
    run.slots.push_back(std::move(simulated.slots));
    return run;
}

analysis::DesignedRun simulated(analysis::Simulation what, std::uint64_t seed)
{
    base::Random random{seed};
    return designed(analysis::simulate(what, random));
}

const Effect& step_effect(const analysis::Analysis& result, const std::string& factor)
{
    const Effect* effect = analysis::find(result.effects, factor, "", Kind::alone, "step");
    REQUIRE(effect != nullptr);
    return *effect;
}

analysis::Simulation exact()
{
    return {.effects_percent = {0.0, 3.0, 30.0, 100.0},
            .deviation = 0.0,
            .autocorrelation = 0.0,
            .drift = 0.0,
            .outlier_rate = 0.0};
}

// A run whose steps have one length per treatment, in slots of exactly ten steps: the means of a factorial are exact.
analysis::DesignedRun factorial(double memory, double net, double both)
{
    const analysis::Assigned mem{"mem", "", "memory.stream"};
    const analysis::Assigned network{"net", "", "network.exchange"};
    analysis::SimulatedRun run;
    run.steps.phases = {"other"};
    analysis::RankSteps& rank = run.steps.ranks.emplace_back();
    std::int64_t time = 0;
    for (int block = 0; block < 4; ++block) {
        const std::vector<std::pair<std::vector<analysis::Assigned>, double>> treatments{
            {{}, 100.0}, {{mem}, 100.0 + memory}, {{network}, 100.0 + net}, {{mem, network}, 100.0 + both}};
        for (std::size_t t = 0; t < treatments.size(); ++t) {
            const auto& [on, ms] = treatments[(t + static_cast<std::size_t>(block)) % treatments.size()];
            const std::int64_t begin = time;
            for (int i = 0; i < 10; ++i) {
                run.steps.numbers.push_back(static_cast<std::int64_t>(rank.begin_ns.size()));
                rank.begin_ns.push_back(time);
                time += static_cast<std::int64_t>(ms * 1e6);
                rank.end_ns.push_back(time);
            }
            run.slots.push_back({block, begin, time, on});
        }
    }
    rank.phase_ms = analysis::table_of(analysis::measures_of(analysis::RankSteps{0, rank.begin_ns, rank.end_ns, {}}));
    analysis::DesignedRun result = designed(std::move(run));
    result.plan.design = analysis::Design::factorial;
    return result;
}

std::vector<Eigen::Index> every_step(const analysis::DesignedRun& run)
{
    std::vector<Eigen::Index> steps(run.steps.numbers.size());
    std::iota(steps.begin(), steps.end(), Eigen::Index{0});
    return steps;
}

// Replaces every nth step wholly under the factor, and the two after it, by one step of their total length.
analysis::DesignedRun with_long_steps(analysis::DesignedRun run, const std::string& factor, int nth)
{
    const analysis::StepTable all = std::move(run.steps);
    const analysis::RankSteps& rank = all.ranks.front();
    run.steps = {.phases = all.phases, .numbers = {}, .ranks = {{}}};
    analysis::RankSteps& kept = run.steps.ranks.front();
    int seen = 0;
    for (std::size_t i = 0; i < rank.begin_ns.size(); ++i) {
        const std::size_t last = std::min(i + 2, rank.begin_ns.size() - 1);
        const bool under =
            analysis::exposure(rank.begin_ns[i], rank.end_ns[last], run.slots.front(), factor) > 1.0 - 1e-9;
        const std::size_t end = under && ++seen % nth == 0 ? last : i;
        kept.begin_ns.push_back(rank.begin_ns[i]);
        kept.end_ns.push_back(rank.end_ns[end]);
        std::vector<double> phases(static_cast<std::size_t>(rank.phase_ms.cols()), 0.0);
        for (; i < end; ++i)
            for (std::size_t p = 0; p < phases.size(); ++p)
                phases[p] += rank.phase_ms(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(p));
        for (std::size_t p = 0; p < phases.size(); ++p)
            phases[p] += rank.phase_ms(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(p));
        kept.phase_ms.append_row(phases);
        run.steps.numbers.push_back(static_cast<std::int64_t>(run.steps.numbers.size()));
    }
    return run;
}

}  // namespace

TEST_CASE("effects on data without noise come out exactly")
{
    const analysis::Simulation what = exact();
    const analysis::Analysis result = analysis::analyse(simulated(what, 1), {.draws = {.count = 0}});
    for (std::size_t f = 0; f < what.effects_percent.size(); ++f) {
        CAPTURE(f);
        CHECK(step_effect(result, base::join("f", f)).percent.value ==
              doctest::Approx(what.effects_percent[f]).epsilon(1e-4).scale(1.0));
    }
    CHECK(result.quiet_step_ms == doctest::Approx(100.0).epsilon(1e-6));
    CHECK(result.long_steps.count() == 0);
}

TEST_CASE("time shares alone would not recover a large effect")
{
    const analysis::DesignedRun run = simulated(exact(), 1);
    const analysis::Analysis result = analysis::analyse(run, {.draws = {.count = 0}});
    const Eigen::MatrixXd shares =
        analysis::time_shares(result.exposures.job, every_step(run), run.plan.treatment_of, run.plan.treatments.size());
    const Eigen::MatrixXd ms = analysis::table_of(analysis::measures_of(run.steps)).all();
    const Eigen::VectorXd means = shares.colPivHouseholderQr().solve(ms.col(0));
    CHECK(means[4] / means[0] - 1.0 < 0.995);
    CHECK(step_effect(result, "f3").percent.value == doctest::Approx(100.0).epsilon(1e-4));
}

TEST_CASE("effects of phases add up to the effect on the step")
{
    const analysis::DesignedRun run = simulated({.effects_percent = {0.0, 5.0, 20.0}, .run_s = 60.0}, 7);
    const analysis::Analysis result = analysis::analyse(run, {.draws = {.count = 0}});
    for (const char* factor : {"f0", "f1", "f2"}) {
        double sum = 0.0;
        for (const std::string& phase : run.steps.phases)
            sum += analysis::find(result.effects, factor, "", Kind::alone, phase)->percent.value;
        CHECK(sum == doctest::Approx(step_effect(result, factor).percent.value).epsilon(1e-9));
    }
}

TEST_CASE("a job of one rank has the effects of that rank")
{
    const analysis::Analysis result =
        analysis::analyse(simulated({.effects_percent = {0.0, 10.0}, .run_s = 40.0}, 3), {.draws = {.count = 99}});
    const Effect* job = analysis::find(result.effects, "f1", "", Kind::alone, "compute");
    const Effect* rank = analysis::find(result.effects, "f1", "", Kind::alone, "compute", 0);
    REQUIRE(rank != nullptr);
    CHECK(job->percent.value == rank->percent.value);
    CHECK(job->p == rank->p);
}

TEST_CASE("means, strata and accidents add up to the time of the steps that are used")
{
    // A noise that causes accidents, and a checkpoint every 20 steps.
    analysis::DesignedRun run =
        with_long_steps(simulated({.effects_percent = {0.0, 20.0}, .outlier_rate = 0.01, .run_s = 120.0}, 5), "f1", 30);
    run.steps.phases.emplace_back("checkpoint");
    base::LongColumn<double> checkpoint_ms;
    for (std::size_t i = 0; i < run.steps.numbers.size(); ++i) checkpoint_ms.push_back(i % 20 == 3 ? 7.0 : 0.0);
    run.steps.ranks.front().phase_ms.append(std::move(checkpoint_ms));
    const analysis::Analysis result = analysis::analyse(run, {.draws = {.count = 0}});
    const analysis::StepsOf steps = analysis::steps_of(run, result);
    const analysis::Measures step_ms = analysis::measures_of(run.steps).only(1);
    const analysis::Fit fit = analysis::fit(analysis::job_series(run, result, step_ms, {"step"}), steps);
    double used_ms = 0.0;
    double used = 0.0;
    for (std::size_t i = 0; i < steps.block.size(); ++i) {
        if (steps.block[i] < 0) continue;
        used_ms += step_ms.first(i);
        used += 1.0;
    }
    REQUIRE(fit.strata.size() == 1);
    CHECK(fit.work.sum() == doctest::Approx(used));
    CHECK(fit.accidents.sum() > 0.0);
    CHECK(fit.work.dot(fit.mean_ms.col(0)) + fit.strata[0].sum.sum() + fit.accidents.sum() ==
          doctest::Approx(used_ms).epsilon(1e-3));  // steps that straddle treatments have less weight in the means
}

TEST_CASE("accidents as frequent under noise as without are set aside and counted")
{
    const analysis::Analysis result = analysis::analyse(
        simulated({.effects_percent = {0.0, 10.0}, .outlier_rate = 0.01, .run_s = 90.0}, 5), {.draws = {.count = 99}});
    CHECK(result.long_steps.rare);
    CHECK(result.long_steps.count() > 0);
    CHECK(result.long_steps.charged == std::vector<bool>(3, false));
    CHECK(result.counts.at(analysis::LeftOut::outlier) == result.long_steps.count());
    CHECK(step_effect(result, "f1").percent.value == doctest::Approx(10.0).epsilon(0.15));
}

TEST_CASE("too many slow steps under one noise are an effect and stay in the estimate")
{
    analysis::DesignedRun run = simulated(exact(), 1);
    analysis::RankSteps& rank = run.steps.ranks.front();
    const std::vector<analysis::Slot>& slots = run.slots.front();
    int seen = 0;
    for (std::size_t i = 0; i < rank.begin_ns.size(); ++i)
        if (analysis::exposure(rank.begin_ns[i], rank.end_ns[i], slots, "f1") == 1.0 && ++seen % 5 == 0)
            rank.end_ns[i] += 50'000'000;
    const analysis::Analysis result = analysis::analyse(run, {.draws = {.count = 0}});
    CHECK_FALSE(result.long_steps.rare);
    CHECK(result.counts.count(analysis::LeftOut::outlier) == 0);
    CHECK(step_effect(result, "f1").percent.value > 8.0);
}

TEST_CASE("the interval spans the estimate with accidents as soon as they are charged to the noise, and not before")
{
    // Two accidents of 50 ms in quiet, and `how_many` under f1, spread over all of its slots.
    const auto with_slow_steps = [](int how_many) {
        analysis::DesignedRun run = simulated(exact(), 1);
        analysis::RankSteps& rank = run.steps.ranks.front();
        int in_quiet = 0;
        int in_noise = 0;
        for (std::size_t i = 0; i < rank.begin_ns.size(); ++i) {
            const analysis::Overlaps overlaps = analysis::exposure(rank.begin_ns[i], rank.end_ns[i], run.slots.front());
            const bool quiet = analysis::wholly_under(overlaps, run.plan, 0);
            if (quiet && ++in_quiet % 140 == 70) rank.end_ns[i] += 50'000'000;
            const bool noise = analysis::exposure(rank.begin_ns[i], rank.end_ns[i], run.slots.front(), "f1") == 1.0;
            if (noise && ++in_noise % 8 == 3 && --how_many >= 0) rank.end_ns[i] += 50'000'000;
        }
        return analysis::analyse(run, {.draws = {.count = 0}});
    };
    const auto percent = [](const analysis::Analysis& result, const char* measure) {
        return analysis::find(result.effects, "f1", "", Kind::alone, measure, analysis::all_ranks,
                              analysis::Family::measure)
            ->percent.value;
    };
    const auto is_charged = [](const analysis::Analysis& result) { return result.accident_rates.at(2).charged; };
    int most = 0;  // the most accidents that are not charged
    while (!is_charged(with_slow_steps(most + 1))) ++most;
    CHECK(most > 0);
    const analysis::Analysis below = with_slow_steps(most);
    const analysis::Analysis above = with_slow_steps(most + 1);
    MESSAGE("one accident more than ", most, ": from ", step_effect(below, "f1").percent.value, " to ",
            step_effect(above, "f1").percent.value, " %");
    CHECK(above.long_steps.rare);
    CHECK(above.accident_rates[2].p <= 0.01);
    CHECK(below.accident_rates[2].p > 0.01);
    CHECK(step_effect(below, "f1").percent.value == percent(below, analysis::step_without_outliers));
    // Charged at 1 %, but not beyond doubt: the estimate is without them, and the interval includes the estimate with
    // them.
    CHECK(above.accident_rates[2].p > 0.001);
    CHECK(step_effect(above, "f1").percent.value == percent(above, analysis::step_without_outliers));
    CHECK(step_effect(above, "f1").percent.interval(0.95).contains(percent(above, analysis::step_with_outliers)));
    CHECK_FALSE(step_effect(below, "f1").percent.interval(0.95).contains(percent(below, analysis::step_with_outliers)));
    const analysis::Analysis surely = with_slow_steps(2 * most);
    CHECK(surely.accident_rates[2].p <= 0.001);
    CHECK(step_effect(surely, "f1").percent.value == percent(surely, analysis::step_with_outliers));
    CHECK(percent(above, analysis::step_with_outliers) - percent(below, analysis::step_with_outliers) < 0.5);
    CHECK(percent(below, analysis::step_without_outliers) == doctest::Approx(3.0).epsilon(0.01));
    CHECK(percent(above, analysis::step_without_outliers) == doctest::Approx(3.0).epsilon(0.01));
    // While accidents are not charged, the effect at worst includes what they would add.
    CHECK(step_effect(below, "f1").at_worst.value ==
          doctest::Approx(percent(below, analysis::step_with_outliers)).epsilon(0.05));
    CHECK(step_effect(below, "f1").at_worst.interval(0.95).high > step_effect(below, "f1").percent.interval(0.95).high);
}

TEST_CASE("a strong effect is no outlier")
{
    const analysis::Analysis result = analysis::analyse(
        simulated({.effects_percent = {0.0, 50.0}, .outlier_rate = 0.0, .run_s = 60.0}, 9), {.draws = {.count = 0}});
    CHECK(result.long_steps.count() <= 2);
    CHECK(step_effect(result, "f1").percent.value == doctest::Approx(50.0).epsilon(0.03));
}

TEST_CASE("more outliers under one noise than in quiet are found by their rate")
{
    analysis::DesignedRun run = simulated({.effects_percent = {0.0, 0.0}, .outlier_rate = 0.0, .run_s = 120.0}, 2);
    analysis::RankSteps& rank = run.steps.ranks.front();
    int seen = 0;
    for (std::size_t i = 0; i < rank.begin_ns.size(); ++i)
        if (analysis::exposure(rank.begin_ns[i], rank.end_ns[i], run.slots.front(), "f1") == 1.0 && ++seen % 25 == 0)
            rank.end_ns[i] += 100'000'000;
    const analysis::Analysis result = analysis::analyse(run, {.draws = {.count = 999}});
    REQUIRE(result.accident_rates.size() == 3);
    CHECK(result.accident_rates[0].factor == "quiet");
    CHECK(result.accident_rates[0].percent_of_steps == 0.0);
    CHECK(result.accident_rates[1].p > 0.05);
    CHECK_FALSE(result.accident_rates[1].only_here);
    CHECK(result.accident_rates[2].percent_of_steps > 2.0);
    CHECK(result.accident_rates[2].p < 0.05);
    CHECK(result.accident_rates[2].only_here);
}

TEST_CASE("accidents that only one noise has are its effect and leave the other noises alone")
{
    // Under f1 every 25th step takes as long as three: 27 steps' time for 25 steps, 8 % more.
    const analysis::DesignedRun run = with_long_steps(
        simulated({.effects_percent = {0.0, 0.0}, .deviation = 0.02, .outlier_rate = 0.0, .run_s = 240.0}, 5), "f1",
        25);
    const analysis::Analysis result = analysis::analyse(run, {.draws = {.count = 99}});
    CHECK(result.long_steps.rare);
    REQUIRE(result.accident_rates.size() == 3);
    CHECK_FALSE(result.accident_rates[1].charged);
    CHECK(result.accident_rates[2].charged);
    const analysis::Interval interval = step_effect(result, "f1").percent.interval(0.95);
    CHECK(interval.low > 2.0);
    CHECK(interval.low < 8.0);
    CHECK(interval.high > 8.0);
    CHECK(step_effect(result, "f1").p <= 0.02);
    double phases = 0.0;
    for (const char* phase : {"compute", "exchange"})
        phases += analysis::find(result.effects, "f1", "", Kind::alone, phase)->percent.value;
    CHECK(phases == doctest::Approx(step_effect(result, "f1").percent.value));
    CHECK(std::abs(step_effect(result, "f0").percent.value) < 1.0);
    const Effect* without = analysis::find(result.effects, "f1", "", Kind::alone, analysis::step_without_outliers,
                                           analysis::all_ranks, analysis::Family::measure);
    REQUIRE(without != nullptr);
    CHECK(std::abs(without->percent.value) < 1.0);
}

TEST_CASE("a factorial gives effects alone and on average and in interaction")
{
    const analysis::Analysis result =
        analysis::analyse(factorial(10.0, 20.0, 36.0), {.exposure = {.warm_up_steps = 0}, .draws = {.count = 99}});
    const auto value = [&](const char* factor, Kind kind) {
        const Effect* effect = analysis::find(result.effects, factor, "", kind, "step");
        REQUIRE(effect != nullptr);
        return effect->percent.value;
    };
    CHECK(value("mem", Kind::alone) == doctest::Approx(10.0));
    CHECK(value("net", Kind::alone) == doctest::Approx(20.0));
    CHECK(value("mem", Kind::average) == doctest::Approx(13.0));
    CHECK(value("net", Kind::average) == doctest::Approx(23.0));
    CHECK(value("mem*net", Kind::interaction) == doctest::Approx(6.0));
}

TEST_CASE("a block is whole if half of a slot of each treatment lies within the training, else dropped and counted")
{
    analysis::DesignedRun run = factorial(10.0, 20.0, 30.0);
    const auto end_after = [&](std::size_t steps) {
        run.steps.numbers.resize(steps);
        for (auto* times : {&run.steps.ranks[0].begin_ns, &run.steps.ranks[0].end_ns}) times->resize(steps);
        run.steps.ranks[0].phase_ms.resize(static_cast<Eigen::Index>(steps), run.steps.ranks[0].phase_ms.cols());
        return analysis::Rules{.exposure = {.warm_up_steps = 0}, .draws = {.count = 0}};
    };
    // Slots of ten steps, blocks of four slots: the third block ends within its last slot if the run ends early.
    const analysis::Rules rules = end_after(115);
    const analysis::Analysis half = analysis::analyse(run, rules);
    CHECK(half.blocks == 3);
    CHECK(half.dropped_blocks == 1);
    end_after(114);
    const analysis::Analysis less = analysis::analyse(run, rules);
    CHECK(less.blocks == 2);
    CHECK(less.dropped_blocks == 2);
    CHECK(less.counts.at(analysis::LeftOut::block_incomplete) == 34);
    end_after(75);
    CHECK_THROWS_WITH_AS(analysis::analyse(run, {.exposure = {.warm_up_steps = 20}, .draws = {.count = 0}}),
                         doctest::Contains("two blocks with every treatment"), base::Error);
}

TEST_CASE("without accidents the interval uses the t quantile of blocks minus one")
{
    const analysis::Analysis result = analysis::analyse(
        simulated({.effects_percent = {0.0, 10.0}, .outlier_rate = 0.0, .run_s = 24.0}, 4), {.draws = {.count = 0}});
    const Effect& effect = step_effect(result, "f1");
    CHECK(effect.percent.degrees_of_freedom == result.blocks - 1);
    const analysis::Interval interval = effect.percent.interval(0.95);
    CHECK(interval.half_width() / effect.percent.standard_error ==
          doctest::Approx(analysis::t_quantile(0.95, result.blocks - 1.0)));
}

TEST_CASE("re-randomisation p-values of no effect are spread evenly")
{
    int below_tenth = 0;
    int below_half = 0;
    const int runs = 80;
    for (int run = 0; run < runs; ++run) {
        const analysis::Analysis result = analysis::analyse(
            simulated({.effects_percent = {0.0, 40.0}, .run_s = 40.0}, static_cast<std::uint64_t>(run)),
            {.draws = {.count = 199}, .by_rank = false});
        const double p = step_effect(result, "f0").p;
        below_tenth += p <= 0.1 ? 1 : 0;
        below_half += p <= 0.5 ? 1 : 0;
        CHECK(step_effect(result, "f1").p <= 0.011);
    }
    CHECK(below_tenth <= 18);
    CHECK(below_half >= 24);
    CHECK(below_half <= 56);
}

TEST_CASE("a fixed sequence is tested with t because its order was not drawn")
{
    analysis::DesignedRun run = simulated({.effects_percent = {0.0, 10.0}, .run_s = 40.0}, 4);
    run.plan.design = analysis::Design::sequence;
    const analysis::Analysis result = analysis::analyse(run, {.draws = {.count = 99}});
    CHECK(step_effect(result, "f1").p == step_effect(result, "f1").percent.p_value());
}
