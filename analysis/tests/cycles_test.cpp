// SPDX-License-Identifier: Apache-2.0
// Tests of time between steps: it belongs to the step before, as its own phase or in `other`.
#include "analysis/estimate/analyse.hpp"
#include "analysis/input/steps.hpp"
#include "testing/synthetic_steps.hpp"

#include <doctest/doctest.h>

#include <span>
#include <string>
#include <vector>

namespace {

struct BeginAndEnd {
    std::int64_t number = 0;
    std::int64_t begin_ms = 0;
    std::int64_t end_ms = 0;
};

// Steps with one third of their time in `load`, the rest in `other`.
analysis::StepTable steps_from(const std::vector<BeginAndEnd>& all)
{
    analysis::StepTable table;
    table.phases = {"load", "other"};
    analysis::RankSteps& rank = table.ranks.emplace_back();
    for (const BeginAndEnd& step : all) {
        table.numbers.push_back(step.number);
        rank.begin_ns.push_back(step.begin_ms * 1'000'000);
        rank.end_ns.push_back(step.end_ms * 1'000'000);
        const double ms = static_cast<double>(step.end_ms - step.begin_ms);
        rank.phase_ms.append_row(std::vector{ms / 3.0, ms - ms / 3.0});
    }
    return table;
}

void check_that_phases_add_up(const analysis::StepTable& steps)
{
    for (const analysis::RankSteps& rank : steps.ranks)
        for (std::size_t i = 0; i < rank.begin_ns.size(); ++i) {
            double sum = 0.0;
            for (Eigen::Index p = 0; p < rank.phase_ms.cols(); ++p)
                sum += rank.phase_ms(static_cast<Eigen::Index>(i), p);
            CHECK(sum == doctest::Approx(static_cast<double>(rank.end_ns[i] - rank.begin_ns[i]) / 1e6));
        }
}

}  // namespace

TEST_CASE("a step lasts until the next one begins, and the last one until its own end")
{
    analysis::StepTable steps = steps_from({{0, 0, 90}, {1, 100, 190}, {2, 220, 310}});
    analysis::measure_cycles(steps);
    CHECK(steps.phases == std::vector<std::string>{"load", "other", "between_steps"});
    CHECK(steps.ranks[0].end_ns == base::LongColumn<std::int64_t>{100'000'000, 220'000'000, 310'000'000});
    CHECK(steps.ranks[0].phase_ms(0, 2) == doctest::Approx(10.0));
    CHECK(steps.ranks[0].phase_ms(1, 2) == doctest::Approx(30.0));
    CHECK(steps.ranks[0].phase_ms(2, 2) == 0.0);
    CHECK(steps.between_share == doctest::Approx(40.0 / 310.0));
    check_that_phases_add_up(steps);
}

TEST_CASE("a step lasts until the next one where steps are missing or overlap, too")
{
    // Every tenth step is recorded; 30 is missing, 60 begins before 50 has ended, and 70 before 60 has begun.
    analysis::StepTable steps = steps_from(
        {{0, 0, 90}, {10, 100, 190}, {20, 200, 290}, {40, 400, 490}, {50, 500, 590}, {60, 580, 670}, {70, 570, 680}});
    analysis::measure_cycles(steps);
    CHECK(steps.ranks[0].end_ns == base::LongColumn<std::int64_t>{100'000'000, 200'000'000, 400'000'000, 500'000'000,
                                                                  580'000'000, 670'000'000, 680'000'000});
    CHECK(steps.ranks[0].phase_ms(4, 2) == doctest::Approx(-10.0));
    check_that_phases_add_up(steps);
}

TEST_CASE("hardly any time between steps is a part of `other`")
{
    const auto with_gap = [](std::int64_t gap_ms) {
        analysis::StepTable steps = steps_from({{0, 0, 5000}, {1, 5000 + gap_ms, 10'000}});
        analysis::measure_cycles(steps);
        check_that_phases_add_up(steps);
        return steps;
    };
    CHECK(with_gap(9).phases == std::vector<std::string>{"load", "other"});  // the gap is 0.09 % of the time
    CHECK(with_gap(9).ranks[0].end_ns[0] == 5'009'000'000);
    CHECK(with_gap(9).between_share == doctest::Approx(0.0009));
    CHECK(with_gap(11).phases.back() == analysis::between_steps);
    CHECK(with_gap(0).phases == std::vector<std::string>{"load", "other"});
    CHECK(with_gap(0).between_share == 0.0);

    analysis::StepTable without_other = steps_from({{0, 0, 5000}, {1, 5009, 10'000}});
    without_other.phases = {"load", "backward"};
    analysis::measure_cycles(without_other);
    CHECK(without_other.phases.back() == analysis::between_steps);
}

TEST_CASE("each rank has its own time between steps")
{
    analysis::StepTable steps = steps_from({{0, 0, 90}, {1, 100, 190}});
    steps.ranks.push_back(steps_from({{0, 0, 60}, {1, 100, 190}}).ranks[0]);
    analysis::measure_cycles(steps);
    CHECK(steps.ranks[0].phase_ms(0, 2) == doctest::Approx(10.0));
    CHECK(steps.ranks[1].phase_ms(0, 2) == doctest::Approx(40.0));
    CHECK(steps.between_share == doctest::Approx(50.0 / 380.0));
    check_that_phases_add_up(steps);
}

TEST_CASE("time between steps that noise doubles is its effect, in that phase alone")
{
    // Steps take 100 ms, with 10 ms between them, 20 ms under noise: a cycle of 110 ms becomes one of 120 ms. Each slot
    // has ten cycles.
    std::vector<analysis::Slot> slots;
    analysis::DesignedRun run;
    run.steps.phases = {"backward"};
    analysis::RankSteps& rank = run.steps.ranks.emplace_back();
    base::Random random{3};
    std::int64_t time_ns = 0;
    for (int block = 0; block < 12; ++block) {
        std::vector<bool> order{false, true};
        if (base::draw_unit(random) < 0.5) order = {true, false};
        for (const bool noisy : order) {
            const std::int64_t begin_ns = time_ns;
            for (int i = 0; i < 10; ++i) {
                run.steps.numbers.push_back(static_cast<std::int64_t>(run.steps.numbers.size()));
                rank.begin_ns.push_back(time_ns);
                rank.end_ns.push_back(time_ns + 100'000'000);
                rank.phase_ms.append_row(std::vector{100.0});
                time_ns += noisy ? 120'000'000 : 110'000'000;
            }
            slots.push_back({block, begin_ns, time_ns, {}});
            if (noisy) slots.back().on = {analysis::testing::noise_called("net")};
        }
    }
    // One more step, which ends the cycle of the last slot's last step.
    run.steps.numbers.push_back(static_cast<std::int64_t>(run.steps.numbers.size()));
    rank.begin_ns.push_back(time_ns);
    rank.end_ns.push_back(time_ns + 100'000'000);
    rank.phase_ms.append_row(std::vector{100.0});
    run.plan = analysis::experiment(analysis::Design::rotation, slots);
    run.slots = {slots};
    const auto effect_on = [&](const std::string& phase) {
        const analysis::Analysis result =
            analysis::analyse(run, {.exposure = {.warm_up_steps = 0}, .draws = {.count = 0}});
        const analysis::Effect* effect = analysis::find(result.effects, "net", "", analysis::Kind::alone, phase);
        REQUIRE(effect != nullptr);
        return effect->percent.value;
    };
    CHECK(effect_on("step") == doctest::Approx(0.0));  // the steps without the gaps do not change
    analysis::measure_cycles(run.steps);
    CHECK(effect_on("step") == doctest::Approx(100.0 * 10.0 / 110.0));
    CHECK(effect_on(analysis::between_steps) == doctest::Approx(100.0 * 10.0 / 110.0));
    CHECK(effect_on("backward") == doctest::Approx(0.0));
}
