// SPDX-License-Identifier: Apache-2.0
// Tests of exposure: shares of a step under each treatment, and steps that are left out.
#include "analysis/estimate/assigned/exposure.hpp"

#include "base/error.hpp"

#include <doctest/doctest.h>

using analysis::Assigned;
using analysis::LeftOut;
using analysis::Slot;

namespace {

const Assigned memory{"memory", "", "memory.stream"};
const Assigned delay{"delay", "", "control.delay", base::Role::delay};
const Assigned sham{"sham", "", "control.sham", base::Role::sham};

analysis::StepTable steps_at(std::vector<std::int64_t> begins, std::int64_t length)
{
    analysis::StepTable table;
    analysis::RankSteps& rank = table.ranks.emplace_back();
    for (const std::int64_t begin : begins) {
        table.numbers.push_back(static_cast<std::int64_t>(rank.begin_ns.size()));
        rank.begin_ns.push_back(begin);
        rank.end_ns.push_back(begin + length);
    }
    rank.phase_ms.resize(static_cast<Eigen::Index>(begins.size()), 0);
    return table;
}

}  // namespace

TEST_CASE("a step half covered by noise counts half")
{
    const std::vector<Slot> slots{{0, 0, 50, {memory}}, {0, 50, 200, {}}};
    CHECK(analysis::exposure(0, 100, slots, "memory") == doctest::Approx(0.5));
    CHECK(analysis::exposure(40, 60, slots, "memory") == doctest::Approx(0.5));
    CHECK(analysis::exposure(50, 60, slots, "memory") == 0.0);
}

TEST_CASE("factors that are on together both count")
{
    const std::vector<Slot> slots{{0, 0, 100, {memory, {"net", "", "network.exchange"}}}};
    CHECK(analysis::exposure(0, 100, slots, "memory") == 1.0);
    CHECK(analysis::exposure(0, 100, slots, "net") == 1.0);
    CHECK(analysis::exposure(50, 150, slots, "net") == doctest::Approx(0.5));
}

TEST_CASE("a step without length is under nothing")
{
    const std::vector<Slot> slots{{0, 0, 100, {memory}}};
    CHECK(analysis::exposure(50, 50, slots).empty());
}

TEST_CASE("steps of the warm-up, of the guard and that begin in no slot are left out and say why")
{
    const std::vector<Slot> slots{{0, 100, 200, {memory}}, {0, 200, 300, {}}};
    const analysis::Experiment plan = analysis::experiment(analysis::Design::rotation, slots);
    analysis::StepTable steps = steps_at({0, 90, 102, 130, 190, 260, 290}, 20);
    for (std::size_t i = 0; i < steps.numbers.size(); ++i) steps.numbers[i] += 60;  // numbers of a resumed training
    const analysis::Exposures exposures = analysis::expose(steps, std::vector<std::vector<Slot>>{slots}, plan,
                                                           {.warm_up_steps = 1, .guard = base::Nanoseconds{10}});
    const std::vector<LeftOut> expected{LeftOut::warm_up, LeftOut::not_covered, LeftOut::guard, LeftOut::no,
                                        LeftOut::no,      LeftOut::no,          LeftOut::no};
    CHECK(exposures.left_out == expected);
    CHECK(exposures.slot == base::LongColumn<int>{analysis::no_slot, analysis::no_slot, 0, 0, 0, 1, 1});
    CHECK(exposures.block == base::LongColumn<int>{-1, -1, 0, 0, 0, 0, 0});
}

TEST_CASE("a step belongs to the slot in which it begins, however far it reaches into the next ones")
{
    const std::vector<Slot> slots{{0, 0, 100, {}}, {0, 100, 200, {memory}}, {1, 200, 300, {}}, {1, 300, 400, {memory}}};
    const analysis::Experiment plan = analysis::experiment(analysis::Design::rotation, slots);
    analysis::StepTable steps = steps_at({0, 50, 99, 320, 360}, 20);
    steps.ranks[0].end_ns[2] = 320;  // spans two whole slots
    const analysis::Exposures exposures =
        analysis::expose(steps, std::vector<std::vector<Slot>>{slots}, plan, {.warm_up_steps = 0});
    CHECK(exposures.left_out == std::vector(5, LeftOut::no));
    CHECK(exposures.slot == base::LongColumn<int>{0, 0, 0, 3, 3});
    CHECK(exposures.blocks == 2);
    CHECK(analysis::used_blocks(exposures) == base::LongColumn<int>{0, 0, 0, 1, 1});
}

TEST_CASE("steps that reach over the border of a control's slot are kept")
{
    const std::vector<Slot> slots{{0, 0, 100, {}}, {0, 100, 200, {delay}}, {0, 200, 300, {memory}}};
    const analysis::Experiment plan = analysis::experiment(analysis::Design::rotation, slots);
    analysis::StepTable steps = steps_at({50, 90, 150, 190, 250}, 20);
    steps.phases = {"control_settle"};
    Eigen::MatrixXd phase_ms = Eigen::MatrixXd::Zero(5, 1);
    phase_ms.col(0) << 0.0, 0.0, 2.0, 2.0, 0.0;
    steps.ranks[0].phase_ms = phase_ms;
    const analysis::Exposures exposures =
        analysis::expose(steps, std::vector<std::vector<Slot>>{slots}, plan, {.warm_up_steps = 0});
    CHECK(exposures.left_out == std::vector(5, LeftOut::no));
    CHECK(exposures.slot == base::LongColumn<int>{0, 0, 1, 1, 2});
    // A control acts on whole steps; other steps in its slot count as quiet.
    const analysis::StepOverlaps shares =
        analysis::shared_among(exposures, steps.ranks[0], slots, plan, [](std::size_t) { return 1.0; });
    REQUIRE(shares[1].size() == 2);
    CHECK(shares[1][1].slot == 1);
    CHECK(shares[1][1].as_quiet);
    REQUIRE(shares[3].size() == 1);
    CHECK(shares[3][0].slot == 1);
    CHECK(shares[3][0].share == 1.0);
}

TEST_CASE("a step that a control touched outside of its slots is left out")
{
    const std::vector<Slot> slots{
        {0, 0, 100, {delay}}, {0, 100, 200, {sham}}, {0, 200, 300, {memory}}, {0, 300, 400, {}}};
    const analysis::Experiment plan = analysis::experiment(analysis::Design::rotation, slots);
    analysis::StepTable steps = steps_at({50, 90, 150, 210, 250, 350}, 20);
    steps.phases = {"backward", "control_settle"};
    Eigen::MatrixXd phase_ms = Eigen::MatrixXd::Zero(6, 2);
    phase_ms.col(1) << 2.0, 2.0, 2.0, 0.0, 2.0, 0.0;  // the fifth step is in no control's slot
    steps.ranks[0].phase_ms = phase_ms;
    const analysis::Exposures exposures =
        analysis::expose(steps, std::vector<std::vector<Slot>>{slots}, plan, {.warm_up_steps = 0});
    const std::vector<LeftOut> expected{LeftOut::no, LeftOut::no, LeftOut::no, LeftOut::no, LeftOut::control_border,
                                        LeftOut::no};
    CHECK(exposures.left_out == expected);
    CHECK(exposures.slot == base::LongColumn<int>{0, 0, 1, 2, 2, 3});
}

TEST_CASE("a block is whole by time: also if no step began in a slot that a long step covered")
{
    const std::vector<Slot> slots{{0, 0, 100, {}}, {0, 100, 200, {memory}}, {1, 200, 300, {memory}}, {1, 300, 400, {}}};
    const analysis::Experiment plan = analysis::experiment(analysis::Design::rotation, slots);
    analysis::StepTable steps = steps_at({0, 50, 310, 330}, 20);
    steps.ranks[0].end_ns[1] = 310;
    const auto exposed = [&](std::int64_t warm_up) {
        return analysis::expose(steps, std::vector<std::vector<Slot>>{slots}, plan, {.warm_up_steps = warm_up});
    };
    // The training ends at 350: half of the last slot lies within it.
    CHECK(exposed(0).blocks == 2);
    CHECK(exposed(0).left_out == std::vector(4, LeftOut::no));
    steps.ranks[0].end_ns[3] = 349;
    CHECK(exposed(0).blocks == 1);
    CHECK(exposed(0).left_out ==
          std::vector{LeftOut::no, LeftOut::no, LeftOut::block_incomplete, LeftOut::block_incomplete});
    // After a warm-up of one step, counted time begins at 50.
    CHECK(exposed(1).blocks == 1);
    CHECK(exposed(2).blocks == 0);
}

TEST_CASE("a whole step that obeyed no control is left out of a slot in which others did, and kept where none did")
{
    const std::vector<Slot> slots{{0, 0, 100, {delay}}, {0, 100, 200, {}}};
    const analysis::Experiment plan = analysis::experiment(analysis::Design::rotation, slots);
    analysis::StepTable steps = steps_at({10, 40, 70, 150}, 20);
    steps.phases = {"backward", "control_settle"};
    Eigen::MatrixXd phase_ms = Eigen::MatrixXd::Zero(4, 2);
    phase_ms.col(1) << 0.0, 2.0, 2.0, 0.0;  // the first step began before the delay was requested
    steps.ranks[0].phase_ms = phase_ms;
    const auto left_out = [&] {
        return analysis::expose(steps, std::vector<std::vector<Slot>>{slots}, plan, {.warm_up_steps = 0}).left_out;
    };
    CHECK(left_out() == std::vector{LeftOut::control_border, LeftOut::no, LeftOut::no, LeftOut::no});
    steps.ranks[0].phase_ms = Eigen::MatrixXd::Zero(4, 2);
    CHECK(left_out() == std::vector(4, LeftOut::no));
}

TEST_CASE("the exposure of the job is the mean over ranks each on its own clock")
{
    const std::vector<Slot> slots{{0, 0, 100, {memory}}, {0, 100, 200, {}}};
    std::vector<Slot> later = slots;
    for (Slot& slot : later) {
        slot.begin_ns += 1'000'000;
        slot.end_ns += 1'000'000;
    }
    analysis::StepTable steps = steps_at({80}, 40);
    steps.ranks.push_back(steps.ranks.front());
    steps.ranks[1].rank = 1;
    steps.ranks[1].begin_ns[0] = 1'000'060;
    steps.ranks[1].end_ns[0] = 1'000'100;
    const analysis::Experiment plan = analysis::experiment(analysis::Design::rotation, slots);
    const analysis::Exposures exposures =
        analysis::expose(steps, std::vector<std::vector<Slot>>{slots, later}, plan, {.warm_up_steps = 0});
    REQUIRE(exposures.job[0].size() == 2);
    CHECK(exposures.ranks[0][0][0].share == doctest::Approx(0.5));
    CHECK(exposures.ranks[1][0][0].share == doctest::Approx(1.0));
    CHECK(exposures.job[0][0].share == doctest::Approx(0.75));
}

TEST_CASE("each repetition of a sequence is a block")
{
    const std::vector<Slot> slots{{7, 0, 10, {memory}}, {7, 10, 20, {}}, {7, 20, 30, {memory}}, {7, 30, 40, {}}};
    const analysis::Experiment plan = analysis::experiment(analysis::Design::sequence, slots);
    CHECK(plan.blocks == 2);
    CHECK(plan.block_of == std::vector<int>{0, 0, 1, 1});
    CHECK_FALSE(plan.randomised());
}

TEST_CASE("noise that is never quiet leaves nothing to compare with")
{
    const std::vector<Slot> slots{{0, 0, 10, {memory}}, {0, 10, 20, {delay}}};
    CHECK_THROWS_AS(analysis::experiment(analysis::Design::rotation, slots), base::Error);
}
