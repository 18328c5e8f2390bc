// SPDX-License-Identifier: Apache-2.0
// Coverage of a run: a training of ten seconds on CPU 0 of node n1, and noise on CPU 1.
#include "crosstalk/campaign/proof.hpp"

#include <doctest/doctest.h>

using namespace crosstalk;

namespace {

constexpr std::int64_t second = 1'000'000'000;

const TrainingOnNode training{
    .cpus = {0}, .begin_ns = 100 * second, .counted_ns = 101 * second, .end_ns = 110 * second, .steps = 100};

// Slots of half a second each, from `from_s` to `to_s`.
std::vector<NoiseSlot> slots(std::int64_t from_s, std::int64_t to_s, int cpu = 1, double reached = 1.0)
{
    std::vector<NoiseSlot> all;
    for (std::int64_t at = from_s * second; at < to_s * second; at += second / 2)
        all.push_back({.cpu = cpu, .begin_ns = at, .end_ns = at + second / 2 - second / 1000, .reached = reached});
    all.back().end_ns = to_s * second;
    return all;
}

std::string why(const std::vector<NoiseSlot>& noise, const AskedNoise& asked = {.cpus = {1}})
{
    return why_not_covered({{"n1", training}}, {{"n1", noise}}, asked);
}

}  // namespace

TEST_CASE("noise from before the first step that counts until after the last one covers a training")
{
    CHECK(why(slots(99, 111)).empty());
    CHECK(why(slots(101, 110)).empty());
}

TEST_CASE("noise that starts late or ends early does not, and the run says by how much")
{
    CHECK(why(slots(103, 111)) == "noise on n1 began late, 2.0 s after the first counted step");
    CHECK(why(slots(99, 106)) == "noise on n1 ended early, 4.0 s before the training");
}

TEST_CASE("steps of Slurm that waited for each other are named")
{
    const std::string cause = " (Slurm steps without srun --overlap?)";
    CHECK(why(slots(112, 120)) == "noise on n1 began after the training had ended" + cause);
    CHECK(why(slots(80, 99)) == "noise on n1 had ended before the training began" + cause);
}

TEST_CASE("noise with a hole is no steady noise")
{
    std::vector<NoiseSlot> noise = slots(99, 103);
    for (const NoiseSlot& slot : slots(105, 111)) noise.push_back(slot);
    CHECK(why(noise) == "noise on n1 was on for 77 % of the training only");
}

TEST_CASE("noise that was stopped in the middle of a slot was not on")
{
    std::vector<NoiseSlot> noise = slots(99, 103);
    for (const NoiseSlot& slot : slots(105, 111)) noise.push_back(slot);
    noise[7].end_ns = 105 * second;  // the slot began at 102.5 s
    CHECK(why(noise) == "noise on n1 was on for 78 % of the training only");
}

TEST_CASE("noise on CPUs of the training, or on others than those given, does not count")
{
    CHECK(why(slots(99, 111, 0)) == "noise on n1 ran on CPUs 0, of which the training uses 0");
    CHECK(why(slots(99, 111, 2)) == "noise on n1 ran on CPUs 2, not on 1");
    CHECK(why(slots(99, 111, 2), {.cpu_count = 2}) == "noise on n1 ran on CPUs 2, not on 2");
    CHECK(why(slots(99, 111, 0), {.may_share = true, .cpus = {0}}).empty());
}

TEST_CASE("noise below the rate asked for does not count")
{
    CHECK(why(slots(99, 111, 1, 0.5)) == "noise on n1 reached 50 % of the rate asked for");
    CHECK(why(slots(99, 111, 1, 1.7)).empty());
}

TEST_CASE("every node must be covered")
{
    const TrainingByNode two{{"n1", training}, {"n2", training}};
    CHECK(why_not_covered(two, {{"n1", slots(99, 111)}}, {.cpus = {1}}) == "no noise ran on n2");
    CHECK(why_not_covered(two, {{"n1", slots(99, 111)}, {"n2", slots(99, 108)}}, {.cpus = {1}}) ==
          "noise on n2 ended early, 2.0 s before the training");
    CHECK(why_not_covered(two, {{"n1", slots(99, 111)}, {"n2", slots(99, 111)}}, {.cpus = {1}}).empty());
}

TEST_CASE("a quiet run has no noise beside it, and enough steps")
{
    CHECK(why_not_covered({{"n1", training}}, {}, {.none = true}).empty());
    CHECK(why(slots(99, 111), {.none = true}) == "noise ran on n1 during a quiet run");
    TrainingOnNode quick = training;
    quick.steps = 3;
    CHECK(why_not_covered({{"n1", quick}}, {}, {.none = true}) ==
          "only 3 steps after the warm-up on n1: increase its duration");
}
