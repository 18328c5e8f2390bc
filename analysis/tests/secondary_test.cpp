// SPDX-License-Identifier: Apache-2.0
// Response curves, carry-over, tails and power, for runs without random variation; expected values are by hand.
#include "analysis/conclude/forecast.hpp"
#include "analysis/estimate/carry_over.hpp"
#include "analysis/sections/response/response.hpp"
#include "analysis/sections/tails/tails.hpp"
#include "base/random.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace {

using analysis::Assigned;

constexpr double gib = 1073741824.0;
constexpr int steps_of_slot = 20;

struct PlannedSlot {
    int block = 0;
    std::vector<Assigned> on;
};

Assigned at_level(const std::string& factor, const std::string& level)
{
    return {factor, level, "memory.stream"};
}

// A run in which every slot lasts as long as its steps. step_ms: length of a step, by its slot and its number in the
// slot.
analysis::DesignedRun exact_run(const std::vector<PlannedSlot>& planned,
                                const std::function<double(std::size_t slot, int step)>& step_ms)
{
    analysis::DesignedRun run;
    std::vector<analysis::Slot> slots;
    analysis::RankSteps& rank = run.steps.ranks.emplace_back();
    std::int64_t time_ns = 0;
    for (std::size_t s = 0; s < planned.size(); ++s) {
        const std::int64_t begin_ns = time_ns;
        for (int i = 0; i < steps_of_slot; ++i) {
            rank.begin_ns.push_back(time_ns);
            time_ns += static_cast<std::int64_t>(step_ms(s, i) * 1e6);
            rank.end_ns.push_back(time_ns);
            run.steps.numbers.push_back(static_cast<std::int64_t>(run.steps.numbers.size()));
        }
        slots.push_back({planned[s].block, begin_ns, time_ns, planned[s].on});
    }
    run.steps.phases = {"other"};
    rank.phase_ms.resize(static_cast<Eigen::Index>(rank.begin_ns.size()), 1);
    for (std::size_t i = 0; i < rank.begin_ns.size(); ++i)
        rank.phase_ms(static_cast<Eigen::Index>(i), 0) = static_cast<double>(rank.end_ns[i] - rank.begin_ns[i]) / 1e6;
    run.plan = analysis::experiment(analysis::Design::rotation, slots);
    run.slots = {slots};
    return run;
}

analysis::Analysis analysed(const analysis::DesignedRun& run)
{
    return analysis::analyse(run, {.exposure = {.warm_up_steps = 0}, .draws = {.count = 0}, .by_rank = false});
}

// Curve of a run with blocks of quiet and a noise at 1, 2 and 16 GiB/s, in a different order each, with these effects.
analysis::ResponseCurve curve_of(double at_1, double at_2, double at_16, double budget,
                                 const analysis::Doses& doses = {})
{
    std::vector<PlannedSlot> planned;
    for (int block = 0; block < 4; ++block)
        for (int slot = 0; slot < 4; ++slot) {
            const int treatment = (slot + block) % 4;
            const std::vector<std::string> levels{"", "rate=1GiB/s", "rate=2GiB/s", "rate=16GiB/s"};
            planned.push_back({block, {}});
            if (treatment > 0) planned.back().on = {at_level("mem", levels[static_cast<std::size_t>(treatment)])};
        }
    const analysis::DesignedRun run = exact_run(planned, [&](std::size_t slot, int) {
        const std::vector<Assigned>& on = planned[slot].on;
        if (on.empty()) return 10.0;
        const double percent = on[0].level == "rate=1GiB/s" ? at_1 : on[0].level == "rate=2GiB/s" ? at_2 : at_16;
        return 10.0 * (1.0 + percent / 100.0);
    });
    const analysis::Analysis analysis = analysed(run);
    const auto curves = analysis::response_curves({{{&run, &analysis}}}, doses, {.budget_percent = budget});
    REQUIRE(curves.size() == 1);
    return curves.front();
}

}  // namespace

TEST_CASE("values that fall are pooled by their weights")
{
    CHECK(base::isotonic(std::vector<double>{1, 3, 2, 4}, std::vector<double>{1, 1, 1, 1}) ==
          std::vector<double>{1, 2.5, 2.5, 4});
    CHECK(base::isotonic(std::vector<double>{3, 1}, std::vector<double>{1, 3}) == std::vector<double>{1.5, 1.5});
    CHECK(base::isotonic(std::vector<double>{3, 2, 1}, std::vector<double>{1, 1, 1}) == std::vector<double>{2, 2, 2});
}

TEST_CASE("the tolerated level lies where the line between two levels meets the budget")
{
    const analysis::ResponseCurve curve = curve_of(0.5, 2.0, 30.0, 1.0);
    CHECK(curve.unit == "bytes/s");
    CHECK(!curve.achieved);
    REQUIRE(curve.points.size() == 3);
    CHECK(curve.points[2].level == "rate=16GiB/s");  // ordered by amount, not as text
    CHECK(*curve.tolerated.value / gib == doctest::Approx(1.0 + 0.5 / 1.5).epsilon(1e-5));
    // Without random variation, the upper bound differs only by the 256 points between two levels at which effects are
    // computed; the lower one is a level that ran.
    CHECK(*curve.tolerated.low / gib == doctest::Approx(1.0));
    CHECK(*curve.tolerated.high / gib == doctest::Approx(1.333).epsilon(0.005));
    CHECK(*curve.break_point.value == doctest::Approx(gib));
}

TEST_CASE("below the lowest rate the curve begins at nothing")
{
    CHECK(*curve_of(4.0, 5.0, 6.0, 1.0).tolerated.value / gib == doctest::Approx(0.25).epsilon(1e-5));
}

TEST_CASE("a curve that stays below the budget tolerates every level")
{
    const analysis::ResponseCurve curve = curve_of(-0.1, -0.1, 0.5, 1.0);
    CHECK(!curve.tolerated.value);
    CHECK(!curve.tolerated.high);
    CHECK(*curve.tolerated.low / gib == doctest::Approx(16.0));
    CHECK(*curve.break_point.value / gib == doctest::Approx(16.0));
}

TEST_CASE("doses are what was achieved where each level has it on record")
{
    const analysis::Doses doses{{{"mem", "rate=1GiB/s"}, {.bytes_per_s = 0.9 * gib}},
                                {{"mem", "rate=2GiB/s"}, {.bytes_per_s = 1.9 * gib}},
                                {{"mem", "rate=16GiB/s"}, {.bytes_per_s = 5.0 * gib}}};
    const analysis::ResponseCurve curve = curve_of(0.0, 2.0, 30.0, 1.0, doses);
    CHECK(curve.achieved);
    CHECK(curve.points[2].dose / gib == doctest::Approx(5.0));
    CHECK(*curve.tolerated.value / gib == doctest::Approx(1.4).epsilon(1e-5));
}

TEST_CASE("what a noise leaves in the next slot is told from what it costs in its own")
{
    // b costs 10 % in its own slots; a costs 3 % in the next slot, whatever is on there.
    const std::vector<std::string> order{"",  "a", "b", "b", "", "a", "a", "b", "",  "",  "b", "a",
                                         "b", "",  "a", "a", "", "b", "",  "a", "b", "b", "a", ""};
    std::vector<PlannedSlot> planned;
    for (std::size_t s = 0; s < order.size(); ++s) {
        planned.push_back({static_cast<int>(s / 3), {}});
        if (!order[s].empty()) planned.back().on = {at_level(order[s], "")};
    }
    // Steps are alternately 2 % shorter and longer, which no slot's mean shows: steps of equal length have no spread by
    // which carry-over differs from accidents.
    const analysis::DesignedRun run = exact_run(planned, [&](std::size_t s, int step) {
        return (10.0 + (order[s] == "b" ? 1.0 : 0.0) + (s > 0 && order[s - 1] == "a" ? 0.3 : 0.0)) *
               (step % 2 == 0 ? 0.98 : 1.02);
    });
    const analysis::Analysis analysis = analysed(run);
    const std::vector<analysis::CarryOver>& found = analysis.carry_over;
    REQUIRE(found.size() == 2);
    CHECK(found[0].factor == "a");
    CHECK(found[0].percent.value == doctest::Approx(3.0));
    CHECK(found[0].percent.standard_error == doctest::Approx(0.0));
    CHECK(found[0].steps == 8 * steps_of_slot);
    CHECK(found[1].percent.value == doctest::Approx(0.0));
    // Carry-over counts as the noise's effect: where noise is on all the time, every slot follows one with it.
    CHECK(found[0].counted);
    const auto effect = [&](const char* factor) {
        return analysis::find(analysis.effects, factor, "", analysis::Kind::alone, "step")->percent.value;
    };
    CHECK(effect("a") == doctest::Approx(3.0));
    // Carry-over is not counted as another noise's effect, although b follows a more or less often than quiet does.
    CHECK(effect("b") == doctest::Approx(10.0));
}

TEST_CASE("what is left of a noise is counted only where chance does not explain it, at all levels of its factor then")
{
    const auto level = [](const char* text) { return std::string{"rate="} + text; };
    // Each level has a carry-over of `left` percent; steps vary by up to 1 % otherwise.
    const auto found = [&](double left) {
        base::Random random{4};
        std::vector<PlannedSlot> planned;
        std::vector<double> ms;
        for (int block = 0; block < 12; ++block) {
            std::vector<int> order{0, 0, 1, 2};
            base::shuffle(random, std::span{order});
            for (const int treatment : order) {
                planned.push_back({block, {}});
                if (treatment > 0) planned.back().on = {at_level("a", level(treatment == 1 ? "1GiB/s" : "2GiB/s"))};
            }
        }
        return analysed(exact_run(planned, [&](std::size_t s, int) {
            const bool after = s > 0 && !planned[s - 1].on.empty();
            return 10.0 + 0.1 * (2.0 * base::draw_unit(random) - 1.0) + (after ? left / 10.0 : 0.0);
        }));
    };
    const analysis::Analysis nothing = found(0.0);
    REQUIRE(nothing.carry_over.size() == 2);
    for (const analysis::CarryOver& one : nothing.carry_over) CHECK_FALSE(one.counted);
    // Every step after the larger one is longer than any step without it, which is no accident.
    for (const double left : {2.0, 15.0}) {
        CAPTURE(left);
        const analysis::Analysis some = found(left);
        REQUIRE(some.carry_over.size() == 2);
        for (const analysis::CarryOver& one : some.carry_over) {
            CHECK(one.counted);
            CHECK(one.p_holm <= 0.05);
            CHECK(one.percent.value == doctest::Approx(left).epsilon(0.1));
            CHECK(analysis::find(some.effects, "a", one.level, analysis::Kind::alone, "step")->percent.value ==
                  doctest::Approx(left).epsilon(0.1));
        }
    }
}

TEST_CASE("a fixed order does not tell carry-over from effects")
{
    std::vector<PlannedSlot> planned;
    for (int s = 0; s < 12; ++s) {
        planned.push_back({s / 2, {}});
        if (s % 2 == 1) planned.back().on = {at_level("a", "")};
    }
    const analysis::DesignedRun run = exact_run(planned, [](std::size_t s, int) { return s % 2 == 1 ? 11.0 : 10.0; });
    CHECK(analysed(run).carry_over.empty());
}

TEST_CASE("tails and variability of steps of which one in ten is longer")
{
    std::vector<PlannedSlot> planned;
    for (int s = 0; s < 12; ++s) {
        planned.push_back({s / 2, {}});
        if (s % 2 == 1) planned.back().on = {at_level("a", "")};
    }
    // Long steps are at a different place in each slot, because long steps with a period are a stratum, not a tail.
    const analysis::DesignedRun run = exact_run(planned, [](std::size_t s, int step) {
        return s % 2 == 1 && step % 10 == static_cast<int>((s * s + 3) % 10) ? 12.0 : 10.0;
    });
    const analysis::EffectTable tails = analysis::tail_effects(run, analysed(run), 1);
    const auto of = [&](const char* name) {
        return analysis::find(tails, "a", "", analysis::Kind::alone, name, analysis::all_ranks,
                              analysis::Family::measure);
    };
    REQUIRE(of("p95 step") != nullptr);
    CHECK(of("p95 step")->percent.value == doctest::Approx(20.0));
    CHECK(of("p95 step")->percent.standard_error == doctest::Approx(0.0));
    CHECK(of("p99 step") == nullptr);                                        // only one of 120 steps is beyond it
    CHECK(of("standard deviation")->percent.value == doctest::Approx(6.0));  // 20 % x sqrt(0.1 x 0.9)
    CHECK(of("coefficient of variation")->percent.value == doctest::Approx(100.0 * 0.6 / 10.2));
}

TEST_CASE("checkpoints are no part of tails and variability")
{
    std::vector<PlannedSlot> planned;
    for (int s = 0; s < 12; ++s) {
        planned.push_back({s / 2, {}});
        if (s % 2 == 1) planned.back().on = {at_level("a", "")};
    }
    // Every ninth step saves, and takes twice as long under noise.
    int number = 0;
    const analysis::DesignedRun run = exact_run(planned, [&](std::size_t s, int) {
        return number++ % 9 != 4 ? 10.0 : s % 2 == 1 ? 30.0 : 20.0;
    });
    const analysis::Analysis analysis = analysed(run);
    REQUIRE(analysis.long_steps.strata.size() == 1);
    CHECK(analysis.long_steps.strata[0].period == 9);
    for (const analysis::Effect& tail : analysis::tail_effects(run, analysis, 1)) {
        CAPTURE(tail.phase);
        CHECK(tail.percent.value == doctest::Approx(0.0));
    }
}

TEST_CASE("the effect that four runs of five find")
{
    // (2.0930 + 0.8610) x 0.5, quantiles of Student's t with 19 degrees of freedom.
    CHECK(analysis::detectable_percent({7.0, 0.5, 19.0}, 0.95) == doctest::Approx(1.4770).epsilon(1e-4));
}
