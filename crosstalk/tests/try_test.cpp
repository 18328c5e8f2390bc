// SPDX-License-Identifier: Apache-2.0
// `crosstalk try`: a prediction from steps without noise, and messages about a job without steps.
#include "base/files.hpp"
#include "crosstalk/run/first_steps.hpp"
#include "crosstalk/run/noise_plan.hpp"
#include "crosstalk/run/trial_steps.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <chrono>

using namespace std::chrono_literals;
using base::Nanoseconds;
using testing::Scratch;

namespace {

// Ten warm-up steps of 1 s, then steps of 50 ms in odd slots of 1 s and of 40 ms in even ones.
crosstalk::TriedSteps alternating(int slots)
{
    crosstalk::TriedSteps steps{.ranks = 1, .begin_ns = {}, .length_ns = {}, .phases = {}};
    std::int64_t now_ns = 0;
    const auto add = [&](std::int64_t ms, int count) {
        for (int i = 0; i < count; ++i) {
            steps.begin_ns.push_back(now_ns);
            steps.length_ns.push_back(ms * 1'000'000);
            now_ns += ms * 1'000'000;
        }
    };
    add(1000, 10);
    for (int slot = 0; slot < slots; ++slot) slot % 2 == 0 ? add(40, 25) : add(50, 20);
    return steps;
}

}  // namespace

TEST_CASE("an expression for lines of a kind begins with what stands before their first number")
{
    CHECK(crosstalk::expression_for("step # loss #") == "step *[0-9]");
    CHECK(crosstalk::expression_for("batch of (#), loss #") == "batch +of +\\( *[0-9]");
    CHECK(crosstalk::expression_for("# #").empty());
    CHECK(crosstalk::expression_for("done").empty());
}

TEST_CASE("a report needs two blocks, with slots as long as they turn out to be")
{
    const std::string slots =
        "noisegen: slot=auto is measured at run time; shown with slots of 1s\n"
        "slot,block,position,begin_ns,end_ns,treatment\n"
        "0,0,0,0,1000000000,quiet\n1,0,1,1000000000,2000000000,placebo\n2,0,2,2000000000,3000000000,io.write\n"
        "3,1,0,3000000000,4000000000,quiet\n";
    CHECK(crosstalk::two_blocks("rotation(io.write, placebo; slot=auto)", slots, 700ms) == 4200ms);
    CHECK(crosstalk::two_blocks("rotation(io.write, placebo; slot=1s)", slots, 0ms) == 6s);
    CHECK(crosstalk::two_blocks("io.write 1s; quiet 2s", slots, 0ms) == 0ms);
}

TEST_CASE("calls of which several make a step go by turns, steps that vary by chance do not")
{
    const auto of_lengths = [](const auto& length_ms) {
        crosstalk::TriedSteps steps{.ranks = 1, .begin_ns = {}, .length_ns = {}, .phases = {}};
        for (std::int64_t i = 0; i < 200; ++i) {
            steps.begin_ns.push_back(i * 100'000'000);
            steps.length_ns.push_back(length_ms(i) * 1'000'000);
        }
        return steps;
    };
    CHECK(crosstalk::steps_by_turns(of_lengths([](std::int64_t i) { return i % 2 == 0 ? 1 : 99 + i % 7; })) == 2);
    CHECK(crosstalk::steps_by_turns(of_lengths([](std::int64_t i) { return i % 5 == 3 ? 80 + i % 7 : 2; })) == 5);
    CHECK(crosstalk::steps_by_turns(of_lengths([](std::int64_t i) { return 50 + i * i % 1009 % 11; })) == 1);
    CHECK(crosstalk::steps_by_turns(of_lengths([](std::int64_t i) { return i * i % 101 < 5 ? 500 : 50; })) == 1);
    CHECK(crosstalk::steps_by_turns(of_lengths([](std::int64_t) { return 50; })) == 1);
}

TEST_CASE("a slot holds ten steps, and is a multiple of 0.1 s")
{
    CHECK(crosstalk::slot_for(alternating(2)) == 500ms);  // 45 steps in 2 s: 44.4 ms
    const crosstalk::TriedSteps fast{.ranks = 1, .begin_ns = {0, 1, 2}, .length_ns = {1, 1, 1}, .phases = {}};
    CHECK(crosstalk::slot_for(fast) == 200ms);
}

TEST_CASE("how long a run has to be follows from how much slots without noise differ")
{
    // Means of 40 and 50 ms alternate: 9 whole slots have mean 44.4 ms and deviation 5.27 ms, or 11.86 %. One slot
    // against two quiet slots has 14.52 %. For 5 %, (1.96 * 14.52 / 5)^2 = 32.4, so 33 blocks of 5 slots.
    CHECK(crosstalk::length_for_budget(alternating(10), 1s, 2, 5, 5.0) == 165s);
    CHECK(crosstalk::length_for_budget(alternating(4), 1s, 2, 5, 5.0) == 0s);
}

TEST_CASE("phases are shares of the first rank's steps after the warm-up")
{
    const Scratch scratch;
    std::string table = "rank,step,begin_ns,end_ns,forward_ns,other_ns\n";
    for (int step = 0; step < 12; ++step)
        table += "0," + std::to_string(step) + "," + std::to_string(100 * step) + "," +
                 std::to_string(100 * step + 100) + (step < 10 ? ",100,0\n" : ",25,75\n") + "1," +
                 std::to_string(step) + ",0,100,100,0\n";
    base::write_whole(scratch / "steps.csv", table);
    const crosstalk::TriedSteps steps = crosstalk::read_tried_steps(scratch / "steps.csv");
    CHECK(steps.ranks == 2);
    CHECK(steps.length_ns.size() == 12);
    REQUIRE(steps.phases.size() == 2);
    // Six of 12 steps are warm-up; of the other six, four are all forward.
    CHECK(steps.phases[0].second == doctest::Approx((4 * 100 + 2 * 25) / 600.0));
    CHECK(steps.phases[1].first == "other");
}
